//go:build unix

// Package notifiers holds notifiers for people to copy; its tests run each
// against stand-ins of what it tells.
package notifiers

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostile is the name of a task that tries to run commands and to break formats.
const hostile = `-n "q" \ \n \u003c \\" '$(touch pwned)` + "`touch pwned`" +
	` ${HOME} %s &amp; <!channel> @everyone 🎉 é ","content":"x` +
	"\r\nBcc: all@example.com\n\n.\n\x01\x1f\u2028end --"

// reported is the path of a report.
const reported = "/home/dev/project/.agent-state/report-k3v7m2q9xa.html"

// table is what chats show below the text.
const table = "\n```\nfeatures  8 proven, 1 claimed, of 10\ntime      12 min\nreport    " + reported + "\n```"

// line is hostile in the one line that a notifier may show.
var line = strings.NewReplacer("\r", " ", "\n", " ", "\x01", " ", "\x1f", " ", "\u2028", " ").Replace(hostile)

// run runs a notifier for an ending and returns its output. The notifier finds the programs
// in the folder bin before the machine's own.
func run(t *testing.T, bin, home, status string, args ...string) (string, error) {
	t.Helper()
	payload, err := json.Marshal(map[string]any{
		"schema": 1, "epicId": "checkout", "exitReason": "all_features_pass", "task": hostile, "needs": "needs\\",
		"features": map[string]any{
			"total": 10, "passed": 9, "proven": 8, "claimed": 1, "open": []string{`","task":"open`, `"total":3`},
		},
		"durationSec": 754, "logTail": `{"task":"log","needs":"log","proven":1}`, "report": reported,
	})
	if err != nil {
		t.Fatal(err)
	}
	read(t, args[0]) // go test caches by the files that a test reads
	cmd := exec.Command("sh", args...)
	cmd.Stdin = strings.NewReader(string(payload) + "\n")
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home,
		"RALPH_STATUS=" + status, "RALPH_ITERATION=7", "RALPH_MAX_ITERATIONS=15", "RALPH_EXIT_CODE=0",
		"RALPH_AGENT=claude", "RALPH_WORK_DIR=/home/dev/project",
	}
	out, err := cmd.CombinedOutput()
	if _, bad := os.Stat("pwned"); bad == nil {
		t.Error("the task was run")
	}
	return string(out), err
}

// standIn creates a program of the given name and returns its folder. The program writes its
// arguments, one a line, to the file args in that folder. It exits with the given status. A
// stand-in for sendmail or gh writes its standard input to the file stdin too.
func standIn(t *testing.T, name, exit string) string {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\ncd '" + bin + "'\nprintf '%s\\n' \"$@\" >args\n" +
		"case $0 in *sendmail | *gh) cat >stdin ;; esac\nexit " + exit + "\n"
	if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const title = "ralph: completed after 7 of 15 iterations"

var text = "checkout (all_features_pass) " + line + ` needs\`

func TestPrograms(t *testing.T) {
	markup := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, test := range []struct {
		script, program string
		first           string // what it would rather use
		args            []string
		want            string // of its arguments
	}{
		{"desktop.sh", "notify-send", "osascript", nil, "-a\nralph-stop-hook\n--\n" + title + "\n" +
			markup.Replace(text)},
		{
			"desktop.sh", "osascript", "", nil,
			"-e\non run argv\n-e\ndisplay notification (item 2 of argv) with title (item 1 of argv)\n-e\nend run\n" +
				title + "\n" + text,
		},
		{"sound.sh", "afplay", "", nil, "/System/Library/Sounds/Glass.aiff"},
		{"sound.sh", "pw-play", "afplay", nil, "/usr/share/sounds/freedesktop/stereo/complete.oga"},
		{"sound.sh", "paplay", "pw-play", nil, "/usr/share/sounds/freedesktop/stereo/complete.oga"},
		{"email.sh", "sendmail", "", []string{"you@example.com"}, "-i\n--\nyou@example.com"},
		{
			"github.sh", "gh", "", []string{"42"},
			"api\n--silent\n--method\nPOST\nrepos/{owner}/{repo}/issues/42/comments\n--input\n-",
		},
	} {
		t.Run(test.script+" "+test.program, func(t *testing.T) {
			if _, err := exec.LookPath(test.first); err == nil {
				t.Skip("this machine has ", test.first)
			}
			bin := standIn(t, test.program, "0")
			if out, err := run(t, bin, t.TempDir(), "completed",
				append([]string{test.script}, test.args...)...); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := read(t, bin, "args"); got != test.want+"\n" {
				t.Errorf("arguments\n%q, want\n%q", got, test.want)
			}
			args := append([]string{test.script}, test.args...)
			if out, err := run(t, standIn(t, test.program, "3"), t.TempDir(), "failed", args...); err == nil {
				t.Errorf("%s failed, and it did not: %s", test.program, out)
			}
			switch test.program {
			case "sendmail":
				head, body, _ := strings.Cut(read(t, bin, "stdin"), "\n\n")
				want := "To: you@example.com\nSubject: " + title + "\nMIME-Version: 1.0\n" +
					"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64"
				if head != want {
					t.Errorf("header\n%s, want\n%s", head, want)
				}
				got, err := base64.StdEncoding.DecodeString(body)
				want = "checkout (all_features_pass)\n" + line + "\nneeds\\\n/home/dev/project\n\n" +
					"features  8 proven, 1 claimed, of 10\ntime      12 min\nreport    " + reported + "\n"
				if err != nil || string(got) != want {
					t.Errorf("body\n%q (%v), want\n%q", got, err, want)
				}
				for l := range strings.Lines(body) {
					if len(l) > 77 {
						t.Errorf("a line of %d bytes", len(l))
					}
				}
			case "gh":
				var got struct{ Body string }
				in := read(t, bin, "stdin")
				// GitHub shows control characters itself.
				shown := strings.NewReplacer("\r", " ", "\n", " ").Replace(hostile)
				want := "**ralph: completed** after 7 of 15 iterations\n\n    checkout (all_features_pass)\n    " +
					shown + "\n    needs\\"
				if err := json.Unmarshal([]byte(in), &got); err != nil || got.Body != want {
					t.Errorf("%v: body\n%q, want\n%q", err, got.Body, want)
				}
			}
		})
	}
}

func TestWebhooks(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl")
	}
	shown := strings.NewReplacer("\r", " ", "\n", " ").Replace("checkout (all_features_pass) " + hostile + ` needs\`)
	for script, want := range map[string]string{
		"slack.sh": "*ralph: completed* after 7 of 15 iterations: " +
			strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(shown) + table,
		"discord.sh": "**ralph: completed** after 7 of 15 iterations: " + shown + table,
		"ntfy.sh":    text,
	} {
		t.Run(script, func(t *testing.T) {
			var body []byte
			var header http.Header
			status := http.StatusOK
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header = r.Header
				w.WriteHeader(status)
			}))
			defer server.Close()
			home := t.TempDir()
			secret := filepath.Join(home, ".config", "ralph-stop-hook", strings.TrimSuffix(script, ".sh"))
			if err := os.MkdirAll(filepath.Dir(secret), 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := run(t, "", home, "completed", script); err == nil || header != nil {
				t.Errorf("without an address: %v: %s", err, out)
			}
			config := "url = \"" + server.URL + "/hook\"\nheader = \"Authorization: Bearer tk\"\n"
			if err := os.WriteFile(secret, []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, "", home, "completed", script)
			if err == nil || header != nil || !strings.Contains(out, "chmod 600") {
				t.Errorf("with an address that others can read: %v: %s", err, out)
			}
			if err := os.Chmod(secret, 0o600); err != nil {
				t.Fatal(err)
			}

			if out, err := run(t, "", home, "completed", script); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := string(body)
			if script != "ntfy.sh" {
				var message struct {
					Text, Content string
					Mentions      struct{ Parse []string } `json:"allowed_mentions"`
				}
				if err := json.Unmarshal(body, &message); err != nil || script == "discord.sh" &&
					message.Mentions.Parse == nil {
					t.Errorf("%v: %s", err, body)
				}
				got = message.Text + message.Content
			} else if h := header.Get("Title") + header.Get("Tags"); h != title+"white_check_mark" {
				t.Errorf("headers %q", h)
			}
			if got != want {
				t.Errorf("told\n%q, want\n%q", got, want)
			}
			if header.Get("Authorization") != "Bearer tk" {
				t.Error("the file's header was not sent")
			}
			status = http.StatusInternalServerError
			if out, err := run(t, "", home, "failed", script); err == nil {
				t.Errorf("the server failed, and it did not: %s", out)
			}
		})
	}
}
