package main

import "os"

// exitWith2 are signals that Windows does not have.
var exitWith2 []os.Signal
