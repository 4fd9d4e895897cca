//go:build linux && !faults

package main

// killing is a part of what the tag faults has. A rename makes each change of the records.
var killing = kills{[]string{"renameat"}, 4, 6}
