package docs

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

var update = flag.Bool("update", false, "write the generated part of ralph-json.md anew")

// The text between these lines of ralph-json.md is made from the schema, and that from the tables of package config.
const generatedBegin, generatedEnd = "<!-- hooks/ralph.schema.json -->\n", "<!-- end -->\n"

// TestConfiguration compares docs/ralph-json.md with the schema, and parses the
// examples in the schema.
func TestConfiguration(t *testing.T) {
	data, err := os.ReadFile("../hooks/ralph.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	r := reference{t: t, schema: gjson.ParseBytes(data)}
	r.write()
	text, err := os.ReadFile("ralph-json.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), generatedBegin)
	_, after, ended := strings.Cut(rest, generatedEnd)
	if !ok || !ended {
		t.Fatalf("ralph-json.md has no lines %q and %q", generatedBegin, generatedEnd)
	}
	want := before + generatedBegin + r.b.String() + generatedEnd + after
	if *update {
		if err := os.WriteFile("ralph-json.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("ralph-json.md is not what the schema says; run: go test ./docs -run TestConfiguration -update")
	}
}

// reference writes the part of ralph-json.md that describes the schema.
type reference struct {
	t      *testing.T
	schema gjson.Result
	b      strings.Builder
}

// parts lists the objects that have keys: their place in the schema, what stands before
// their keys, and a ralph.json around one of their keys.
var parts = []struct{ path, before, around string }{
	{"@this", "", `{%s}`},
	{"properties.limits", "limits.", `{"limits": {%s}}`},
	{"properties.source", "source.", `{"source": {"list": ["list"], %s}}`},
	{"$defs.check", "checks[].", `{"checks": [{"command": "make test", "when": "claim", %s}]}`},
	{"$defs.prepare", "prepare[].", `{"prepare": [{"command": "npm ci", %s}]}`},
	{"$defs.check.properties.file_contains", "checks[].file_contains.", ""},
	{
		"$defs.evaluator.oneOf.1", "evaluate[].", `{"evaluate": ["default", {"command": "./review.sh", %s}]}`,
	},
	{"properties.promises", "promises.", `{"promises": {%s}}`},
	{"$defs.command.oneOf.1", "COMMAND.", `{"on_complete": [{"command": "./notify.sh", %s}]}`},
}

func (r *reference) write() {
	for _, part := range parts {
		r.schema.Get(part.path + ".properties").ForEach(func(key, value gjson.Result) bool {
			example := ""
			if part.around != "" {
				example = fmt.Sprintf(", `%s`", r.example(key.Str, value, part.around))
			}
			if plainValue(value) {
				example = ""
			}
			kind := r.kind(value)
			if (kind == "text" || kind == "list") && example != "" && fallback(value) == "" {
				kind, example = "", strings.TrimPrefix(example, ", ") // which shows what it is
			}
			fmt.Fprintf(&r.b, "* `%s%s`: %s%s%s. %s\n", part.before, key.Str, kind, fallback(value), example,
				plainText.Replace(r.description(value)))
			r.holdDefault(key.Str, value, part.around)
			return true
		})
	}
}

// plainValue reports whether the kind of a key's values says all about them, without an example.
func plainValue(v gjson.Result) bool {
	switch v.Get("type").String() {
	case "boolean", "integer", "number":
		return true
	case "object":
		return v.Get("properties").Exists() // each is a row of its own
	}
	return v.Get("enum").Exists() || strings.HasSuffix(v.Get("$ref").Str, "/preset") || isTime(v)
}

// plainText escapes what is Markdown.
var plainText = strings.NewReplacer("<", "&lt;", "*", "\\*")

func (r *reference) description(v gjson.Result) string {
	text := v.Get("description").Str
	if text == "" {
		r.t.Errorf("the schema does not say what this does: %s", v.Raw)
	}
	return text
}

// example returns a key's example, which the parser must accept.
func (r *reference) example(key string, v gjson.Result, around string) string {
	text := v.Get("examples.0").Raw
	r.description(v)
	if text == "" {
		r.t.Errorf("%s has no example in the schema", key)
		return ""
	}
	if _, err := config.Parse(within(key, text, around)); err != nil {
		r.t.Errorf("the schema's example of %s: %v", key, err)
	}
	return text
}

// within returns a ralph.json with a key in it. It leaves out the keys that cannot be
// beside that key.
func within(key, value, around string) []byte {
	for _, beside := range []string{
		`"command": "make test", `, `"command": "./review.sh", `, `"command": "./notify.sh", `, `"command": "npm ci", `,
	} {
		switch key {
		case "command", "file_exists", "file_contains", "last_message":
			around = strings.Replace(around, beside, "", 1)
		}
	}
	switch key {
	case "when":
		around = strings.Replace(around, `"when": "claim", `, "", 1)
	case "list":
		around = strings.Replace(around, `"list": ["list"], `, "", 1)
	}
	text := fmt.Sprintf(around, fmt.Sprintf("%q: %s", key, value))
	if strings.Contains(text, `"validation"`) {
		text = strings.Replace(text, "{", `{"checks": [{"command": "make test"}], `, 1)
	}
	return []byte(text)
}

// holdDefault checks that a config with the default of a key means the same as one without
// the key.
func (r *reference) holdDefault(key string, v gjson.Result, around string) {
	// config.Parse does not apply the defaults of these two keys. Package decide applies the
	// first one, because a header may have the number, and package loop the second one.
	def := v.Get("default")
	if !def.Exists() || key == "max_iterations" || key == "bind" {
		return
	}
	pair, text := fmt.Sprintf("%q: %s", key, def.Raw), string(within(key, def.Raw, around))
	got, err := config.Parse([]byte(text))
	want, err2 := config.Parse([]byte(strings.NewReplacer(", "+pair, "", pair, "").Replace(text)))
	if err != nil || err2 != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%s: the schema's default is not the value that a config without it has: %v, %v\n%v\n%v",
			key, err, err2, got, want)
	}
}

// isTime reports whether the values of a key are durations, as its default is.
func isTime(v gjson.Result) bool {
	unit := v.Get("default").Str
	return v.Get("type").Str == "string" && len(unit) > 1 && strings.Contains("smh", unit[len(unit)-1:])
}

func fallback(v gjson.Result) string {
	if def := v.Get("default"); def.Exists() {
		return " (`" + def.Raw + "`)"
	}
	return ""
}

// kind returns in words which values a key takes.
func (r *reference) kind(v gjson.Result) string {
	if ref := v.Get("$ref").Str; ref != "" {
		switch name := strings.TrimPrefix(ref, "#/$defs/"); name {
		case "command":
			return "COMMAND"
		case "commands":
			return "COMMANDs"
		case "check":
			return "a check"
		case "evaluator":
			return "an evaluator"
		case "words":
			return "text or words"
		default:
			return r.kind(r.schema.Get("$defs." + name))
		}
	}
	if enum := v.Get("enum").Array(); len(enum) > 0 {
		var words []string
		for _, word := range enum {
			words = append(words, "`"+word.Raw+"`")
		}
		return strings.Join(words, ", ")
	}
	switch v.Get("type").String() {
	case "integer":
		if most := v.Get("maximum").Int(); most < 1000 {
			return fmt.Sprintf("%d to %d", v.Get("minimum").Int(), most)
		}
		return "integer"
	case "string":
		if isTime(v) {
			return "duration"
		}
		return "text"
	case "boolean":
		return "boolean"
	case "array":
		switch one := r.kind(v.Get("items")); one {
		case "text", "object", "text or number": // as the example shows
			return "list"
		case "a check", "an evaluator":
			_, one, _ = strings.Cut(one, " ")
			return one + "s"
		default:
			return "list of " + one
		}
	case "object":
		return "object"
	}
	if v.Get("type").Str == "number" {
		return "number above 0"
	}
	return "text or number"
}
