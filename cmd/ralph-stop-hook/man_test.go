package main

import (
	"path/filepath"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli/clitest"
)

func TestManPages(t *testing.T) {
	clitest.ManPages(t, newApp(readEnv()), filepath.Join("..", "..", ".goreleaser.yaml"))
}
