package chain

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Chain{
		"claude:1":                        {{"claude", 1, false}},
		"planner:10 -> builder:20":        {{"planner", 10, false}, {"builder", 20, false}},
		"planner:10->builder:20":          {{"planner", 10, false}, {"builder", 20, false}},
		" a : 1\n->\tb :2 ":               {{"a", 1, false}, {"b", 2, false}},
		`"my planner":3 -> 'it is "b"':4`: {{"my planner", 3, false}, {`it is "b"`, 4, false}},
		`"a:1 -> b":2`:                    {{"a:1 -> b", 2, false}},
		"a-b:1->c-:2":                     {{"a-b", 1, false}, {"c-", 2, false}},
		"gpt-5.1:1 -> gpt-5.1:1000000":    {{"gpt-5.1", 1, false}, {"gpt-5.1", MaxLimit, false}},
		"プランナー:2 -> é_+@:7":               {{"プランナー", 2, false}, {"é_+@", 7, false}},
		"a:007":                           {{"a", 7, false}},
		"planner:3 -> b:30 <-> r:5":       {{"planner", 3, false}, {"b", 30, false}, {"r", 5, true}},
		"b-:30<->r:5->c:1":                {{"b-", 30, false}, {"r", 5, true}, {"c", 1, false}},
	} {
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
			continue
		}
		if again, err := Parse(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q is written as %q, which is %v, %v", text, got, again, err)
		}
	}
}

// malformed has wrong definitions, with a caret below each at the place, and what is said.
const malformed = `
chain
     ^ say how many iterations chain may have

planner
       ^ say how many iterations planner may have: planner:10

planner:
        ^ the limit of planner is missing behind the colon, such as 10

planner:10 ->
             ^ a step is missing behind the last ->

planner:10 -> builder
                     ^ say how many iterations builder may have: builder:10

-> builder:20
^ a step is missing before this ->

planner:10 -> -> builder:20
              ^ a step is missing before this ->

planner:10 ->-> builder:20
             ^ a step is missing before this ->

->
^ a step is missing before this ->

planner -> builder:20
       ^ say how many iterations planner may have: planner:10

planner: -> builder:20
         ^ the limit of planner is missing behind the colon

:10 -> builder:20
^ the name of an agent is missing before the limit

planner:10 -> :20
              ^ the name of an agent is missing before the limit

planner::10
        ^ the limit of planner must be a whole number

planner:ten
        ^ the limit of planner must be a whole number, such as 10

planner:-1
        ^ the limit of planner must be a whole number

planner:+1
        ^ the limit of planner must be a whole number

planner:0
        ^ the limit of planner must be from 1 to 1000000

planner:1000001
        ^ the limit of planner must be from 1 to 1000000

planner:99999999999999999999999
        ^ the limit of planner must be from 1 to 1000000

planner:1.5
         ^ a limit has only digits, such as 10

planner:1e3
         ^ a limit has only digits

planner:10x
          ^ a limit has only digits

planner:10 builder:20
           ^ want -> and the next step, or the end

planner:10 20
           ^ want -> and the next step, or the end

planner:10:opus
          ^ a limit has only digits

planner:10, builder:20
          ^ "," joins no steps; write -> between them

planner:10 → builder:20
           ^ "→" joins no steps; write -> between them

planner:10 => builder:20
           ^ "=>" joins no steps

planner:10 > builder:20
           ^ ">" joins no steps

planner:10 --> builder:20
           ^ "-->" joins no steps

planner:10 - builder:20
           ^ "-" joins no steps

builder:20 <->
              ^ a step is missing behind the last <->

<-> reviewer:3
^ a step is missing before this <->

builder:20 -> <-> reviewer:3
              ^ a step is missing before this <->

builder <-> reviewer:3
       ^ say how many iterations builder may have: builder:10

builder: <-> reviewer:3
         ^ the limit of builder is missing behind the colon

builder:20 <-> reviewer:1
               ^ reviewer needs at least 2 iterations behind <->: it reviews again what was built anew

builder:20 <-> reviewer:3 <-> tester:3
                          ^ a chain has one <-> at most

builder:20 <->:5 reviewer:3
              ^ the name of an agent is missing before the limit

builder:20 ↔ reviewer:3
           ^ "↔" joins no steps; write <-> between them

builder:20 <- reviewer:3
           ^ "<-" joins no steps; write <-> between them

builder:20 <--> reviewer:3
           ^ "<-->" joins no steps; write <-> between them

planner:10 | builder:20
           ^ "|" joins no steps

planner:10; builder:20
          ^ ";" joins no steps

planner:10 && builder:20
           ^ "&" joins no steps

planner:10 then builder:20
           ^ "then" joins no steps

planner 10 -> builder:20
        ^ a colon is missing between planner and its limit

my planner:10
   ^ want a colon and a limit behind my; a name with a blank stands in quotes

"my planner:10 -> builder:20
^ this quote has no end

planner:10 -> 'builder:20
              ^ this quote has no end

"":10
^ the name between these quotes is empty

"  ":10
^ the name between these quotes is empty

my"planner":10
  ^ a quote begins in the middle of a name

"planner"s:10
         ^ a name with "s" stands in quotes

bin/planner:10
   ^ a name with "/" stands in quotes

$(id):10
^ want the name of an agent; a name with "$" stands in quotes

planner=10
       ^ a name with "=" stands in quotes

プラン:10 -> ビル
            ^ say how many iterations ビル may have: ビル:10
`

func TestMalformed(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(malformed), "\n\n")
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		text, mark, _ := strings.Cut(row, "\n")
		blanks, want, _ := strings.Cut(mark, "^ ")
		_, err := Parse(text)
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(at.Problem, want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		if got := at.Marked(utf8.RuneCountInString); got != text+"\n"+blanks+"^" {
			t.Errorf("%s:\n%s", at.Problem, got)
		}
	}
}

// TestHuge has what no line of the table above can show.
func TestHuge(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "the chain is empty; write it like planner:10 -> builder:20 (character 1)",
		" \n ":              "the chain is empty; write it like planner:10 -> builder:20 (character 4)",
		"a\x00:1":           "this character cannot be part of a chain (character 2)",
		"a\xff:1":           "this character cannot be part of a chain (character 2)",
		"a\x1b[31m:1":       "this character cannot be part of a chain (character 2)",
		"\u202ea:1":         "this character cannot be part of a chain (character 1)",
		"\"a\nb\":1":        "a name has one line, and no tab (character 1)",
		"a:1 ->\nb:2 ->\n ": "a step is missing behind the last -> (character 16)",
		strings.Repeat("a:1->", MaxSteps) + "a:1": "the chain has more than 100 steps (character 504)",
		strings.Repeat("a", MaxText+1):            "the chain has more than 4096 bytes (character 4097)",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	_, err := Parse(strings.Repeat("a:1 -> ", 20) + "b 1" + strings.Repeat(" -> a:1", 20))
	want := "…" + strings.Repeat("a:1 -> ", 20)[140-48:] + "b 1" + strings.Repeat(" -> a:1", 20)[:49] + "…\n" +
		strings.Repeat(" ", 51) + "^"
	if got := err.(*Error).Marked(utf8.RuneCountInString); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzChain reads any text. The result is a place in it, or a chain within its bounds that is the same when it is
// written and read again.
func FuzzChain(f *testing.F) {
	for row := range strings.SplitSeq(malformed, "\n\n") {
		f.Add(strings.Split(row, "\n")[0])
	}
	f.Add(`planner:10 -> "my builder" : 20->'x':1`)
	f.Add("a:1 -> b:20 <-> c:5 -> d:1")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.At < 0 || at.At > len(text) {
				t.Fatalf("%q: %v", text, err)
			}
			marked := at.Marked(utf8.RuneCountInString)
			if lines := strings.Split(marked, "\n"); len(lines) != 2 || strings.ContainsAny(marked, "\x1b\r\t\x00") ||
				len(lines[1]) > contextWidth+2 {
				t.Fatalf("%q: %q", text, marked)
			}
			return
		}
		if len(c) == 0 || len(c) > MaxSteps {
			t.Fatalf("%q: %d steps", text, len(c))
		}
		if c[0].Reviews {
			t.Fatalf("%q: %+v", text, c)
		}
		for _, step := range c {
			if step.Agent == "" || step.Limit < 1 || step.Limit > MaxLimit || !utf8.ValidString(step.Agent) {
				t.Fatalf("%q: %+v", text, step)
			}
		}
		if again, err := Parse(c.String()); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q: %q is %v, %v", text, c, again, err)
		}
	})
}
