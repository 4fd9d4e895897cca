package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

// FuzzConfig reads any bytes as ralph.json. The result is an error with a line and a
// column, or a configuration within its bounds, of which no command runs without trust.
func FuzzConfig(f *testing.F) {
	seeds.Add(f, "ralph.json", "*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err := within(data, c, err); err != nil {
			t.Fatal(err)
		}
		if err := untrusted(Choose(nil, append([]byte{}, data...))); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		// The trusted text holds whatever happens to the file.
		trust := NewTrust(data, "/bin")
		for _, text := range [][]byte{data, nil, {}, append([]byte(" "), data...)} {
			got, err := Choose(&trust, text)
			now := text
			if now == nil {
				now = []byte("{}") // a missing file counts as this
			}
			differs := got.Changed && text != nil || got.Missing && text == nil
			if err != nil || !got.Trusted || differs == bytes.Equal(now, data) || got.Changed && got.Missing ||
				fmt.Sprint(got.Config) != fmt.Sprint(c) {
				t.Fatalf("%q beside %q: %+v, %v", text, data, got, err)
			}
		}
		_, _ = ParseUserConfig(data)
	})
}

// within returns an error unless Parse may return c and err for data.
func within(data []byte, c Config, err error) error {
	if err != nil {
		if at := (*jsontext.Error)(nil); !errors.As(err, &at) || at.Line < 1 || at.Col < 1 {
			return fmt.Errorf("no place in %v", err)
		}
		return nil
	}
	l := c.Limits
	for _, row := range decide.LimitTable {
		if row.Time != nil {
			if d := *row.Time(&l); d < 0 || d > 366*24*time.Hour {
				return fmt.Errorf("%s of %v", row.Name, d)
			}
		} else if n := *row.Count(&l); n < 0 || n > row.Max {
			return fmt.Errorf("%s of %d", row.Name, n)
		}
	}
	names := map[string]bool{}
	for _, check := range c.Checks {
		if names[check.Name] || check.Name == "" || check.Digest == "" || check.Timeout <= 0 {
			return fmt.Errorf("the check %+v", check)
		}
		if !check.Runs() && check.FileExists == "" && check.Pattern == nil {
			return fmt.Errorf("the check %+v looks at nothing", check)
		}
		names[check.Name] = true
	}
	for _, e := range c.Evaluators {
		if (e.Preset == "") != e.Runs() {
			return fmt.Errorf("the evaluator %+v is not one thing", e)
		}
	}
	for _, command := range c.Commands() {
		if command.Timeout <= 0 || command.Shell == "" && len(command.Argv) == 0 {
			return fmt.Errorf("the command %+v", command)
		}
	}
	switch text := bytes.TrimPrefix(data, jsontext.BOM); {
	case !json.Valid(text):
		return fmt.Errorf("accepted %q", data)
	case l.Stagnation == 1:
		return errors.New("a loop that stagnates at its first stop")
	case c.List != "" && !filepath.IsLocal(filepath.FromSlash(c.List)):
		return fmt.Errorf("the list %q", c.List)
	case c.Parallel < 0 || c.Parallel > 64:
		return fmt.Errorf("%d at once", c.Parallel)
	case !slices.Contains([]string{"", decide.BindPrompt, decide.BindFirst}, c.Bind):
		return fmt.Errorf("the word %q", c.Bind)
	}
	return nil
}

// untrusted returns an error if a command of an untrusted configuration would run.
func untrusted(c Effective, _ error) error {
	if len(c.Notifiers) > 0 || c.Trusted || c.SearchPath != "" {
		return fmt.Errorf("commands without trust: %+v", c)
	}
	for _, check := range c.Checks {
		if check.Runs() && !check.Untrusted {
			return fmt.Errorf("a check without trust: %+v", check)
		}
	}
	for _, e := range c.Evaluators {
		if e.Runs() && !e.Untrusted {
			return fmt.Errorf("an evaluator without trust: %+v", e)
		}
	}
	return nil
}

// FuzzListChecks reads any bytes as a list. Each list check is for the feature that
// brings it and looks at files below the project only. Without trust none runs.
func FuzzListChecks(f *testing.F) {
	seeds.Add(f, "*list*.json", "*.json")
	f.Add([]byte(`[{"id":"a","verify":"go test ./...","verification":["Look at it.",["go","vet"],` +
		`{"type":"source_contains","file":"../x","pattern":"("},{"type":"test_file_exists","file":"/etc/passwd"}],` +
		`"test_file":["x"]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := features.Parse(data)
		if err != nil {
			return
		}
		for _, item := range list.Items[:min(len(list.Items), 20)] {
			if err := listChecks(item.ID, ListChecks(item)); err != nil {
				t.Fatal(err)
			}
		}
		var nobody Effective
		nobody.AddListChecks(list)
		if slices.ContainsFunc(nobody.Checks, func(c Check) bool { return !c.Untrusted }) {
			t.Fatalf("checks run without trust: %+v", nobody.Checks)
		}
	})
}

// listChecks returns an error unless the checks are list checks of the feature id.
func listChecks(id string, checks []Check) error {
	for _, c := range checks {
		kinds := 0
		for _, is := range []bool{c.Runs(), c.FileExists != "", c.File != "" && c.Pattern != nil} {
			if is {
				kinds++
			}
		}
		outside := func(path string) bool { return path != "" && !filepath.IsLocal(filepath.FromSlash(path)) }
		if kinds != 1 || outside(c.FileExists) || outside(c.File) || c.Timeout <= 0 || c.Name == "" || c.Digest == "" {
			return fmt.Errorf("the check %+v", c)
		}
		if !c.FromList || !c.PerClaim || !slices.Equal(c.Features, []string{id}) {
			return fmt.Errorf("not a list check of %s: %+v", id, c)
		}
	}
	return nil
}

// FuzzTrust reads any bytes as trust.json. The result is an error, or a record with
// the SHA-256 of its text.
func FuzzTrust(f *testing.F) {
	for _, text := range seeds.Files(f, "ralph.json") {
		trust := NewTrust(text, "/bin")
		record, err := jsontext.Indent(trust)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	seeds.Add(f, "*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseTrust(data)
		if err := faithful(data, got, err); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		got.Text += " "
		forged, err := jsontext.Indent(got)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseTrust(forged); err == nil {
			t.Fatalf("another text was accepted: %q", forged)
		}
	})
}

// faithful returns an error unless ParseTrust may return t and err for data.
func faithful(data []byte, t Trust, err error) error {
	if err != nil {
		if !reflect.DeepEqual(t, Trust{}) {
			return fmt.Errorf("a record beside the error %v", err)
		}
		return nil
	}
	if !json.Valid(data) || t.Schema != trustSchema || t.SHA256 != NewTrust([]byte(t.Text), "").SHA256 {
		return fmt.Errorf("%q is taken for %+v", data, t)
	}
	return nil
}

// TestFuzzControls shows that the properties of the fuzz targets can fail.
func TestFuzzControls(t *testing.T) {
	text := []byte(`{"on_complete": ["x"], "checks": [{"command": "y"}], "list": "a.json"}`)
	edited := func(edit func(*Config)) error {
		c, err := Parse(text)
		edit(&c)
		return within(text, c, err)
	}
	if err := edited(func(*Config) {}); err != nil {
		t.Fatal(err)
	}
	trust := NewTrust(text, "/bin")
	trusted, err := Choose(&trust, text)
	if err != nil {
		t.Fatal(err)
	}
	other := trust
	other.Text = "{}"
	evaluator := Evaluator{Command: Command{Shell: "x"}}
	ofFeatureA := func(path string) []Check {
		return []Check{{
			Check: decide.Check{
				Name: "n", Digest: "d", When: decide.WhenClaim, PerClaim: true, Features: []string{"a"},
			},
			Command: Command{Timeout: 1}, FromList: true, FileExists: path,
		}}
	}
	if err := listChecks("a", ofFeatureA("x")); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"a count out of bounds":    edited(func(c *Config) { c.Limits.Stagnation = 1 }),
		"a limit below 0":          edited(func(c *Config) { c.Limits.Deadline = -1 }),
		"a limit above its bound":  edited(func(c *Config) { c.Limits.IterationsPerHour = 1001 }),
		"a list elsewhere":         edited(func(c *Config) { c.List = "../a.json" }),
		"a check without time":     edited(func(c *Config) { c.Checks[0].Timeout = 0 }),
		"an empty command":         edited(func(c *Config) { c.Notifiers[0].Shell = "" }),
		"an error without place":   within(text, Config{}, errors.New("x")),
		"what is not JSON":         within([]byte("{"), trusted.Config, nil),
		"commands that run":        untrusted(trusted, nil),
		"a file elsewhere":         listChecks("a", ofFeatureA("../x")),
		"another's check":          listChecks("b", ofFeatureA("x")),
		"an evaluator that runs":   untrusted(Effective{Config: Config{Evaluators: []Evaluator{evaluator}}}, nil),
		"an empty evaluator":       edited(func(c *Config) { c.Evaluators = []Evaluator{{}} }),
		"a text of another sum":    faithful([]byte("{}"), other, nil),
		"a record beside an error": faithful([]byte("{"), trust, errors.New("x")),
	} {
		if err == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}
