package main

import (
	"path/filepath"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli/clitest"
)

func TestManPages(t *testing.T) {
	clitest.ManPages(t, newApp(boot.Env(program)), filepath.Join("..", "..", ".goreleaser.yaml"))
}
