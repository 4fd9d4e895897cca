// Package faults breaks things under the hook and under runs of ralph-runner, and looks
// at what is left: they are killed at each system call they make, calls fail once and
// from then on, disks are full, the power goes, a thousand hooks come at once, agents
// misbehave, a week goes by. `make faults` runs it, with figures at the end; without the
// build tag faults, which `make test` does not set, it is empty.
//
// The programs under test are the product itself, in its own processes. Each harness
// also gets a broken one, which is the product with one line changed (see
// program_test.go), and fails where it does not notice.
package faults
