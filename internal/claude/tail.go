package claude

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// How much of the end of a transcript is worth reading: many turns, and where
// one result of a tool (a picture) fills that, some more. Never more than that,
// whatever its length.
const (
	TailBytes    = 256 << 10
	MaxTailBytes = 16 << 20
)

// ParseTail reads the end of a transcript: one JSON object a line, as measured
// with 2.1.329. The first line may be cut, and a line that is not JSON is
// passed over: the file is the host's, and of use only as far as we know it.
//
// Entries of subagents (isSidechain) are left out, and as far as usage goes
// those that the host made up itself (model "<synthetic>"). One message is
// several entries, an entry for each block of it, and the last has its usage. An
// error counts only if nobody has said anything since.
func ParseTail(data []byte, now time.Time) decide.Tail {
	t, said := decide.Tail{Context: -1}, false
	for data = bytes.TrimRight(data, "\r\n"); len(data) > 0 && (!said || t.Context < 0 || t.ToolCall.IsZero()); data = bytes.TrimRight(data, "\r\n") {
		start := bytes.LastIndexByte(data, '\n') + 1
		line := data[start:]
		data = data[:start]
		// Most of the bytes are other entries: only these are worth parsing.
		if !slices.ContainsFunc(worth, func(w []byte) bool { return bytes.Contains(line, w) }) {
			continue
		}
		text, err := jsontext.Check(line)
		if err != nil {
			continue
		}
		entry := gjson.ParseBytes(text)
		at, _ := time.Parse(time.RFC3339, entry.Get("timestamp").Str) // zero where there is none
		content := entry.Get("message.content")
		switch kind := entry.Get("type").Str; {
		case entry.Get("subtype").Str == "compact_boundary":
			t.Context = max(t.Context, 0) // what was used before is no longer in the conversation
		case kind != "assistant" && kind != "user" || entry.Get("isSidechain").Bool() || entry.Get("isMeta").Bool():
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
				for _, part := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"} {
					t.Context += int(min(max(usage.Get(part).Int(), 0), 1<<30))
				}
			}
			if t.ToolCall.IsZero() && (content.Get(`#(type=="tool_use")`).Exists() || content.Get(`#(type=="tool_result")`).Exists()) {
				t.ToolCall = at
			}
		}
	}
	return t
}

// worth is what the entries hold that ParseTail looks at.
var worth = [][]byte{[]byte(`"assistant"`), []byte(`"user"`), []byte(`"compact_boundary"`)}
