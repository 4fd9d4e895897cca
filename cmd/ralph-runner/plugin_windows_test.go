package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestPluginServer has cmd.exe run what the plugin starts as its MCP server: the server of ralph-runner, with the words
// and the input of the client. Without ralph-runner it ends, and says nothing but what cmd.exe makes of its first
// lines.
func TestPluginServer(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "hooks", "mcp.cmd"))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := exec.LookPath("ralph-runner")
	if err != nil {
		t.Fatal(err)
	}
	echoed := regexp.MustCompile(`(^|>)(#!/bin/sh|: <<'CMD')$`) // the lines above @echo off
	call := func(path string) (lines []string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "cmd.exe", "/d", "/c", script)
		cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Second
		cmd.Env = append(os.Environ(), "PATH="+path, "RALPH_BINARY=stranger.exe", "RALPH_STATE_DIR="+t.TempDir())
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":`+
			`"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
		for all := bufio.NewScanner(out); all.Scan(); {
			line := strings.TrimSpace(all.Text())
			if line != "" && !echoed.MatchString(line) {
				lines = append(lines, line)
			}
			if strings.Contains(line, `"id":2`) {
				in.Close()
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("with PATH=%s: %v", path, err)
		}
		return lines
	}
	lines := call(filepath.Dir(runner))
	if len(lines) != 2 || !strings.Contains(lines[0], `"serverInfo":{"name":"ralph"`) ||
		!strings.Contains(lines[1], `"id":2`) {
		t.Errorf("with ralph-runner: %q", lines)
	}
	if lines := call(t.TempDir()); len(lines) > 0 {
		t.Errorf("without ralph-runner: %q", lines)
	}
}
