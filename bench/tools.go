//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// toolsQuestion is what a client sends first. The request 2 is the one that is waited for.
const toolsQuestion = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// tools measures how long a client waits for the tools of ralph-runner mcp.
func tools(b *bench) row {
	s, why := b.newStage(options{}), "The tools and their schemas are read at the start, and sent whole."
	r := row{Title: "From the start of ralph-runner mcp to its list of tools", Figures: b.race(
		runner{program: b.floor, stages: []*stage{s}},
		runner{program: program{"ralph-runner version", []string{b.runner.argv[0], "version"}}, stages: []*stage{s}},
		b.asks(b.runner.argv[0], "mcp"),
	)}
	f := r.Figures[2]
	r.Text = fmt.Sprintf("A client waits this long when a session begins. The time has in it a small client, which "+
		"starts the server, and the end of both. It is %.1f times that of `ralph-runner version`.", times(f, r.Figures[1]))
	r.Bars = append(r.Bars, bar{"≤ 25 ms", ms(f.Median), f.Median <= 25*time.Millisecond, why})
	return r
}

// asks returns a runner for a server whose client asks for its tools.
func (b *bench) asks(server ...string) runner {
	s := b.newStage(options{})
	check(os.WriteFile(s.event, []byte(toolsQuestion), 0o600))
	p := program{strings.Join(append([]string{filepath.Base(server[0])}, server[1:]...), " "), nil}
	p.argv = append([]string{b.client}, server...)
	return runner{program: p, stages: []*stage{s}, left: hasTools}
}

// hasTools is an error unless the server has answered with its tools.
func hasTools(r runner, s *stage) error {
	if said := must(os.ReadFile(s.answer)); !bytes.Contains(said, []byte(`"name":"iteration_validate"`)) {
		return fmt.Errorf("%w: %s has no tools: %s", errDiffers, r.name, said)
	}
	return nil
}
