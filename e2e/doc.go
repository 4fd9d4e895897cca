// Package e2e drives the real Claude Code client through ralph-stop-hook and
// ralph-runner, and the clients of other agents through ralph-runner.
//
// Nothing in it is imported by the product. With the build tag e2e it holds a
// scripted Messages API and the tests that put the client, the programs and that
// API together: the client is real, the tool calls are real, only the model is
// a list of lines. Run it with `make e2e`, which installs the client first; where
// a person sits at the client, that is in a terminal of tmux.
//
// Each script of testdata/script is a testscript; see [testscript] for the
// language and e2e_test.go for the commands added to it. Those of testdata/agents
// are the same for all agents, which speak three other APIs.
//
// [testscript]: https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript
package e2e
