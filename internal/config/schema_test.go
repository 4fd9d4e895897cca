package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

var update = flag.Bool("update", false, "write hooks/ralph.schema.json anew")

// TestSchema compares hooks/ralph.schema.json with the tables of keys.
func TestSchema(t *testing.T) {
	path := filepath.Join("..", "..", "hooks", "ralph.schema.json")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := schema()
	if !json.Valid(want) {
		t.Fatalf("not JSON:\n%s", want)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(old, want) {
		t.Error("the schema is not what the tables of keys say; run: go test ./internal/config -run TestSchema -update, " +
			"and then: go test ./docs -run TestConfiguration -update")
	}
}

// schema returns the JSON Schema of ralph.json.
func schema() []byte {
	one := func(kind string) string { return `{ "required": [` + strconv.Quote(kind) + `] }` }
	either := func(kinds ...string) member {
		var all []string
		for _, kind := range kinds {
			all = append(all, one(kind))
		}
		return member{"oneOf", "[" + strings.Join(all, ", ") + "]"}
	}
	limits := limitKeys()
	defaults := Default().Limits
	defaults.MaxIterations = decide.DefaultIterations
	for i := range limits {
		switch field := limits[i].field(&defaults).(type) {
		case *int:
			limits[i].preset = strconv.Itoa(*field)
		case *time.Duration:
			limits[i].preset = strconv.Quote(plain.Duration(*field))
		}
		if limits[i].name == "stagnation" {
			limits[i].schema = fmt.Sprintf(`"type": "integer", "minimum": 0, "maximum": %d, "not": { "const": 1 }`,
				limits[i].most)
		}
	}
	tables := map[string][]member{
		"limits":        objectOf(limits, nil),
		"source":        append(objectOf(sourceKeys, nil), member{"required", `["list"]`}),
		"promises":      objectOf(promiseKeys, nil),
		"file_contains": append(objectOf(containsKeys, nil), member{"required", `["file", "pattern"]`}),
	}
	evaluator := append(objectOf(evaluatorKeys, nil), member{"required", `["command"]`})
	command := append(objectOf(commandKeys, nil), member{"required", `["command"]`})
	defs := []member{
		{"commands", `{ "type": "array", "items": { "$ref": "#/$defs/command" } }`},
		{"words", text([]member{{"oneOf", `[
			{ "description": "A line for the shell.", "type": "string", "minLength": 1 },
			{
				"description": "A program and its arguments; no shell reads them.",
				"type": "array", "items": { "type": "string" }, "minItems": 1
			}
		]`}})},
		{"check", text(append(objectOf(checkKeys, tables),
			either("command", "file_exists", "file_contains", "last_message")))},
		{"preset", `{ "enum": ` + quoted(decide.Presets) + ` }`},
		{"evaluator", text([]member{{"oneOf", `[{ "$ref": "#/$defs/preset" }, ` + text(evaluator) + `]`}})},
		{"command", text([]member{{"oneOf", `[{ "$ref": "#/$defs/words" }, ` + text(command) + `]`}})},
		{"prepare", text(append(objectOf(prepareKeys, nil), member{"required", `["command"]`}))},
		{"agent", text(append(objectOf(agentKeys, nil), either("extends", "command")))},
	}
	root := append([]member{
		{"$schema", `"https://json-schema.org/draft/2020-12/schema"`},
		{"title", `"ralph.json"`},
		{"description", `"The list, limits, checks and notifiers of one loop. Every key is optional."`},
	}, objectOf(keys, tables)...)
	var b strings.Builder
	lay(&b, gjson.Parse(text(append(root, member{"$defs", text(defs)}))), "")
	return []byte(b.String() + "\n")
}

// lay writes a JSON value, on one line if that is short.
func lay(b *strings.Builder, v gjson.Result, indent string) {
	flat := strings.Join(strings.Fields(v.Raw), " ")
	if !v.IsObject() && !v.IsArray() {
		b.WriteString(v.Raw)
		return
	}
	if len(indent)+len(flat) < 110 && len(indent) > 0 {
		b.WriteString(flat)
		return
	}
	begin, end := "[", "]"
	if v.IsObject() {
		begin, end = "{", "}"
	}
	deeper := indent + "  "
	b.WriteString(begin)
	v.ForEach(func(key, value gjson.Result) bool {
		b.WriteString("\n" + deeper)
		if v.IsObject() {
			b.WriteString(key.Raw + ": ")
		}
		if key.Str == "examples" { // the documents show them on one line
			b.WriteString(value.Raw)
		} else {
			lay(b, value, deeper)
		}
		b.WriteByte(',')
		return true
	})
	whole := strings.TrimSuffix(b.String(), ",")
	b.Reset()
	b.WriteString(whole + "\n" + indent + end)
}

// member is a member of a JSON object.
type member struct{ name, value string }

func text(members []member) string {
	var all []string
	for _, m := range members {
		all = append(all, strconv.Quote(m.name)+": "+m.value)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// objectOf describes an object with the keys of a table. tables has what describes the values of its keys that are
// objects themselves.
func objectOf[T any](keys []key[T], tables map[string][]member) []member {
	var properties []member
	for _, row := range keys {
		about, _ := json.Marshal(row.about)
		value := []member{{"description", string(about)}}
		if row.object {
			value = append(value, tables[row.name]...)
		} else {
			value = append(value, valuesOf(row)...)
		}
		if row.preset != "" {
			value = append(value, member{"default", row.preset})
		}
		if row.example != "" {
			value = append(value, member{"examples", "[" + row.example + "]"})
		}
		properties = append(properties, member{row.name, text(value)})
	}
	return []member{{"type", `"object"`}, {"additionalProperties", "false"}, {"properties", text(properties)}}
}

// valuesOf describes the values of a key.
func valuesOf[T any](row key[T]) []member {
	switch {
	case row.schema != "":
		name, value, _ := strings.Cut(row.schema, ": ")
		return []member{{strings.Trim(name, `"`), value}}
	case row.words != nil:
		return []member{{"enum", quoted(row.words)}}
	}
	switch row.field(new(T)).(type) {
	case *bool:
		return []member{{"type", `"boolean"`}}
	case *int:
		return []member{
			{"type", `"integer"`}, {"minimum", strconv.Itoa(row.least)}, {"maximum", strconv.Itoa(row.most)},
		}
	case *[]string, *[]Pattern:
		list := []member{{"type", `"array"`}, {"items", `{ "type": "string" }`}}
		if row.least > 0 {
			list = append(list, member{"minItems", strconv.Itoa(row.least)})
		}
		if row.most > 0 {
			list = append(list, member{"maxItems", strconv.Itoa(row.most)})
		}
		return list
	case *Command:
		return []member{{"$ref", `"#/$defs/command"`}}
	}
	return []member{{"type", `"string"`}}
}

func quoted(words []string) string {
	all, _ := json.Marshal(words)
	return string(all)
}
