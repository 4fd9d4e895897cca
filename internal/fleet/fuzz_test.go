package fleet

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

const sampleOrder = `{"schema":2,"run":"k3v7","loop":"demo","feature":"a","agent":"claude","prompt":"p",` +
	`"commit":"0123abcd","bases":["b"],"folder":"shop","list":"lists/features.json","listText":"t","timeout":60000000000}`

// FuzzOrder reads any bytes as an order. The result is an error, or an order whose paths stay in the worker's folder
// and whose session has a limit.
func FuzzOrder(f *testing.F) {
	f.Add([]byte(sampleOrder))
	for _, change := range [][2]string{
		{`"k3v7"`, `"../.."`}, {`"0123abcd"`, `"--help"`}, {`"shop"`, `"../x"`}, {"lists/features.json", "/etc/passwd"},
		{"60000000000", "0"}, {"60000000000", "-1"}, {`["b"]`, "[]"}, {`"schema":2`, `"schema":1`},
	} {
		f.Add([]byte(strings.Replace(sampleOrder, change[0], change[1], 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := readOrder(data, "1")
		if err != nil {
			return
		}
		const root = "root"
		for _, path := range []string{o.List, o.Folder, o.Run} {
			inside := filepath.Join(root, filepath.FromSlash(path))
			if inside != root && !strings.HasPrefix(inside, root+string(filepath.Separator)) {
				t.Fatalf("%q leads out of the folder", path)
			}
		}
		if o.Timeout <= 0 || o.Idle < 0 || strings.HasPrefix(o.Run+o.Commit, ".") || len(o.Bases) == 0 {
			t.Fatalf("%+v", o)
		}
	})
}

// FuzzReport reads any bytes as a report. The result is an error, or an ending that is bounded, clean for a terminal
// and read again as the same.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"schema":2,"commit":"c","claims":true,"class":"done","message":"m","took":5,` +
		`"used":{"inputTokens":1,"costUsd":0.5}}`))
	for _, text := range []string{
		"", "null", "[]", `{"schema":2,"class":"merged"}`, `{"schema":2,"class":"done","took":-1,"denied":-1}`,
		`{"schema":2,"class":"failed","problem":"\u001b[2J\n","model":"\u202e","refused":"\u0000"}`,
		`{"schema":2,"class":"done","used":{"costUsd":1e308}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readReport(data)
		if err != nil {
			return
		}
		e := r.result()
		for _, text := range []string{e.Problem, e.Refused, e.Activity.Model} {
			if text != plain.Line(text, 300) {
				t.Fatalf("%q is not clean", text)
			}
		}
		if len(e.Message) > maxText || e.Took < 0 || e.Took > maxTook || e.Denied < 0 || e.Denied > maxDenied ||
			!(e.Usage.CostUSD >= 0 && e.Usage.CostUSD <= maxCost) || min(e.Usage.Input, e.Usage.Output) < 0 {
			t.Fatalf("%+v", e)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readReport(text); err != nil || again.result().Problem != e.Problem {
			t.Fatalf("%q is read as %+v: %v", text, again, err)
		}
	})
}
