package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
)

// serveCommand is `serve-files`: a server has the script's files at $SERVER.
func serveCommand(ts *testscript.TestScript, _ bool, _ []string) {
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs("."))))
	ts.Defer(server.Close)
	ts.Setenv("SERVER", server.URL)
}

// TestServers has servers that send too much, nothing, or something else.
func TestServers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge":
			for range roster.MaxPrices>>20 + 1 {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
			}
		case "/silent":
			<-r.Context().Done()
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.Error(w, "\x1b[2J", http.StatusTeapot)
		}
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{
		"/huge":             "/huge: it is larger than 16 MB; give a shorter list",
		"/silent":           "/silent: the server did not send all within 30s; try again, or give a file",
		"/cut":              "/cut: unexpected EOF; try again, or give a file",
		"/round":            "/round: stopped after 10 redirects; try again, or give a file",
		"/other?key=secret": "/other: the server answered 418 I'm a teapot; look whether the address is right",
	} {
		timeout := time.Minute // of a busy machine
		if path == "/silent" {
			timeout = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		_, _, err := readSource(ctx, ".", strings.Replace(server.URL, "//", "//user:secret@", 1)+path)
		cancel()
		if err == nil || err.Error() != server.URL+want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
