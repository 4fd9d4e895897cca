// Ralph-stop-hook keeps Claude Code working through a feature list: it is
// configured as a Stop hook, and at each stop either lets the turn end or
// blocks with the next feature's prompt.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:]))
}
