package client

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// How many bytes at the end of a transcript are read.
const (
	// TailBytes is enough for many turns.
	TailBytes = 256 << 10
	// MaxTailBytes is the most that is read. More than TailBytes is needed if the result of
	// one tool, such as a picture, fills it.
	MaxTailBytes = 16 << 20
)

// ReadTail reads the end of a transcript, and some more if one result of a tool fills that. It
// never reads more, however long the transcript is.
func ReadTail(path, message string, now time.Time) (tail decide.Tail) {
	for _, most := range []int{TailBytes, MaxTailBytes} {
		data, _ := loopdir.TailAny(path, int64(most)) // what cannot be read tells nothing
		tail = ParseTail(data, now)
		if len(data) < most || !tail.ToolCall.IsZero() && tail.Context >= 0 {
			break
		}
		if most == MaxTailBytes && tail.ToolCall.IsZero() {
			tail.ToolCall = now // so many bytes are not only talk
		}
	}
	if at := RetryAt(message, now); !at.IsZero() {
		tail.RetryAt = at
	}
	return tail
}

// ParseTail reads the end of a transcript. As measured with 2.1.329, a transcript has one
// JSON object a line. The first line may be cut off at its beginning. ParseTail skips lines
// that are not JSON, because the format belongs to Claude Code and may change. now is the
// time of an error without a timestamp, and its zone is this machine's.
//
// A message has one entry for each of its blocks; the last one has the usage. ParseTail
// skips the entries of subagents (isSidechain) and those that Claude Code made itself (model
// "<synthetic>"). An error counts only if no message follows it.
func ParseTail(data []byte, now time.Time) decide.Tail {
	t, said := decide.Tail{Context: -1}, false
	for !said || t.Context < 0 || t.ToolCall.IsZero() {
		data = bytes.TrimRight(data, "\r\n")
		if len(data) == 0 {
			break
		}
		start := bytes.LastIndexByte(data, '\n') + 1
		line := data[start:]
		data = data[:start]
		// Most of the bytes belong to other entries, which need no parsing.
		if !slices.ContainsFunc(worth, func(w []byte) bool { return bytes.Contains(line, w) }) {
			continue
		}
		text, err := jsontext.Check(line)
		if err != nil {
			continue
		}
		entry := gjson.ParseBytes(text)
		at, _ := time.Parse(time.RFC3339, entry.Get("timestamp").Str) // zero if there is none
		content := entry.Get("message.content")
		switch kind := entry.Get("type").Str; {
		case entry.Get("subtype").Str == "compact_boundary":
			t.Context = max(t.Context, 0) // older messages are no longer in the conversation
		case kind != "assistant" && kind != "user",
			entry.Get("isSidechain").Bool(), entry.Get("isMeta").Bool():
		case entry.Get("isApiErrorMessage").Bool():
			if !said {
				t.Error = cmp.Or(entry.Get("error").Str, "unknown")
				if at.IsZero() {
					at = now
				}
				if retry := RetryAt(content.Get("0.text").Str, at.In(now.Location())); retry.After(now) {
					t.RetryAt = retry
				}
			}
			said = true
		case entry.Get("message.model").Str == "<synthetic>":
		default:
			said = true
			if usage := entry.Get("message.usage"); t.Context < 0 && usage.Exists() {
				t.Context = 0
				for _, part := range usageParts {
					t.Context += int(min(max(usage.Get(part).Int(), 0), 1<<30))
				}
			}
			tool := content.Get(`#(type=="tool_use")`).Exists() || content.Get(`#(type=="tool_result")`).Exists()
			if t.ToolCall.IsZero() && tool {
				t.ToolCall = at
			}
		}
	}
	return t
}

// usageParts are the fields of an entry's usage. Their sum is the size of the conversation.
var usageParts = []string{
	"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
}

// worth lists texts. An entry that ParseTail needs has one of them.
var worth = [][]byte{[]byte(`"assistant"`), []byte(`"user"`), []byte(`"compact_boundary"`)}
