package hookio

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// TailBytes is how much of the end of a transcript is worth reading: many
// turns, and never more whatever its length.
const TailBytes = 256 << 10

// ParseTail reads the end of a transcript: one JSON object a line, as measured
// with 2.1.329. The first line may be cut, and a line that is not JSON is
// passed over: the file is the host's, and of use only as far as we know it.
//
// Entries of subagents (isSidechain) are left out, and as far as usage goes
// those that the host made up itself (model "<synthetic>"). One message is
// several entries, an entry for each block of it, and the last has its usage.
func ParseTail(data []byte, now time.Time) (t decide.Tail) {
	last, used := true, false
	for data = bytes.TrimRight(data, "\n"); len(data) > 0 && (last || !used || t.ToolCall.IsZero()); data = bytes.TrimRight(data, "\n") {
		start := bytes.LastIndexByte(data, '\n') + 1
		line := data[start:]
		data = data[:start]
		// Most of the bytes are other entries: only these are worth parsing.
		if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"compact_boundary"`)) {
			continue
		}
		text, err := jsontext.Check(line)
		if err != nil {
			continue
		}
		entry := gjson.ParseBytes(text)
		switch {
		case entry.Get("subtype").Str == "compact_boundary":
			used = true // what was used before is no longer in the conversation
		case entry.Get("type").Str != "assistant" || entry.Get("isSidechain").Bool():
		case entry.Get("isApiErrorMessage").Bool():
			if last {
				t.Error, t.RetryAt = entry.Get("error").Str, RetryAt(entry.Get("message.content.0.text").Str, now)
				if t.Error == "" {
					t.Error = "unknown"
				}
			}
			last = false
		case entry.Get("message.model").Str == "<synthetic>":
		default:
			last = false
			if usage := entry.Get("message.usage"); !used && usage.Exists() {
				used = true
				for _, part := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"} {
					t.Context += int(min(max(usage.Get(part).Int(), 0), 1<<30))
				}
			}
			if t.ToolCall.IsZero() && entry.Get(`message.content.#(type=="tool_use")`).Exists() {
				t.ToolCall, _ = time.Parse(time.RFC3339, entry.Get("timestamp").Str) // zero where there is none
			}
		}
	}
	return t
}
