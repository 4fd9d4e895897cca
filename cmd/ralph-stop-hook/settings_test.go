package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// TestSettingsEdited has somebody edit the settings between our reading and writing them.
func TestSettingsEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"model": "a"}`)
	c := client.Find(client.Usual)
	f := settingsEdit{FileChange: client.FileChange{Path: path}, client: c, entry: func(event string) client.Entry {
		return c.Entry(event, program, client.UsualTimeout)
	}}
	if err := f.merge(); err != nil {
		t.Fatal(err)
	}
	write(`{"model": "a", "language": "b"}`)
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"language": "b"`) || !strings.Contains(string(text), program) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestSettingsAdded has somebody add to settings that had nothing but the hook, and were to go.
func TestSettingsAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	c := client.Find(client.Usual)
	text, err := client.Merge(nil, client.Stop, c.Entry(client.Stop, program, client.UsualTimeout))
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	f, planned := withoutHook(path)
	if err != nil || planned != nil || f.Text != nil {
		t.Fatalf("%v, %v: %q", err, planned, f.Text)
	}
	added := strings.Replace(string(text), "{", `{"model": "a", `, 1)
	if err := os.WriteFile(path, []byte(added), 0o644); err != nil {
		t.Fatal(err)
	}
	err = f.Make()
	now, _ := os.ReadFile(path)
	if err != nil || !gjson.GetBytes(now, "model").Exists() || strings.Contains(string(now), program) {
		t.Errorf("%v: %q", err, now)
	}
}

// editMany edits a file n times, as an editor that replaces it does. It may read ours before that is put aside for what
// it wrote. So it waits until it sees that again, but not longer than a second.
func editMany(path string, n int) error {
	last := ""
	for i := range n {
		var text []byte
		for end := time.Now().Add(time.Second); ; {
			now, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			text = now
			if last == "" || gjson.GetBytes(text, last).Exists() || time.Now().After(end) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		last = fmt.Sprintf("k%03d", i)
		text, err := sjson.SetBytes(text, last, i)
		if err != nil {
			return err
		}
		err = os.WriteFile(path+".editor", text, 0o644)
		if err != nil {
			return err
		}
		err = os.Rename(path+".editor", path)
		if err != nil {
			return err
		}
	}
	return nil
}

// TestSettingsCrowd has an editor add 400 keys while the hook is put into the settings and taken out, again and again.
// A key is in the settings, or in the file that an error names.
func TestSettingsCrowd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an editor there replaces no file that is open")
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	c := client.Find(client.Usual)
	edits := make(chan error, 1)
	go func() { edits <- editMany(path, 400) }()
	kept := map[string]bool{}
	keep := func(path string) {
		text, _ := os.ReadFile(path)
		for key := range gjson.ParseBytes(text).ForEach {
			kept[key.Str] = true
		}
	}
	rounds := 0
	for done := false; !done; rounds++ {
		select {
		case err := <-edits:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		add := settingsEdit{FileChange: client.FileChange{Path: path}, client: c, entry: func(event string) client.Entry {
			return c.Entry(event, program, client.UsualTimeout)
		}}
		if err := add.merge(); err == nil {
			_ = add.write() // it may have changed five times
		}
		if remove, err := withoutHook(path); err == nil && remove.Changed() {
			err := remove.Make() // it may have changed five times
			if err != nil {
				_, aside, _ := strings.Cut(err.Error(), "what it was is in ")
				keep(aside)
			}
		}
	}
	keep(path)
	lost := 0
	for i := range 400 {
		if !kept[fmt.Sprintf("k%03d", i)] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of 400 edits are lost beside %d of ours", lost, rounds)
	}
}

// TestEntryKeepsFlags checks that init writes each flag of hook mode, or keeps it as a person's own.
func TestEntryKeepsFlags(t *testing.T) {
	entry := client.Find("codex").Entry("Stop", program, time.Minute)
	all := regexp.MustCompile(`(?m)^  (--[a-z-]+) `).FindAllStringSubmatch(hookHelp, -1)
	if len(all) < 4 {
		t.Errorf("the help has only the flags %q", all)
	}
	for _, flag := range all {
		const have = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook","args":["hook",%q,"x"]}]}]}}`
		got, err := client.Merge(fmt.Appendf(nil, have, flag[1]), "Stop", entry)
		if err != nil || !strings.Contains(string(got), flag[1]) {
			t.Errorf("%s is lost: %s, %v", flag[1], got, err)
		}
	}
}
