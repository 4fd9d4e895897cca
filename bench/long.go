//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func longTalk(b *bench) (row, error) {
	r := row{Title: "A transcript of 1 GB against one of 1 MB", Text: "A limit on the conversation's tokens makes the hook look at the transcript at each stop; the rivals never do. The end of both is the same; what is before it in the larger one is a hole, of which nothing is read."}
	runners, err := b.talks(1<<20, 1<<30)
	if err != nil {
		return r, err
	}
	r.Figures, err = b.race(runners...)
	if err == nil {
		r.theSame(r.Figures[1], r.Figures[0])
	}
	return r, err
}

// talks returns a runner for each size of transcript. It wants each to have been
// looked at: the record has the tokens that only the transcript tells.
func (b *bench) talks(sizes ...int64) (runners []runner, err error) {
	for _, size := range sizes {
		path := filepath.Join(b.memory, fmt.Sprintf("transcript-%d.jsonl", size))
		if err := writeTranscript(path, size); err != nil {
			return nil, err
		}
		all, stages, err := b.same(options{features: 10, limits: `"context_tokens": 150000`, transcript: path}, b.hook)
		if err != nil {
			return nil, err
		}
		records, err := filepath.Glob(filepath.Join(stages[0].state, "loops/*/state.json"))
		if err != nil || len(records) != 1 {
			return nil, fmt.Errorf("records: %v, %v", records, err)
		}
		text, err := os.ReadFile(records[0])
		if err != nil || !strings.Contains(string(text), fmt.Sprintf(`"context": %d`, talkTokens)) {
			return nil, fmt.Errorf("the hook has not looked at the transcript: %s, %v", text, err)
		}
		runners = append(runners, named("transcript of "+bytesWord(size), all[0]))
	}
	return runners, nil
}

// talkTokens is the context that a transcript tells of.
const talkTokens = 123_456

// writeTranscript writes a transcript of that size: a hole, and at the end 1 MB,
// or less, of what the host writes.
func writeTranscript(path string, size int64) error {
	recorded, err := os.ReadFile("internal/claude/testdata/transcripts/tools.jsonl")
	if err != nil {
		return err
	}
	last := fmt.Sprintf(`{"type":"assistant","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":%d,"output_tokens":6}}}`+"\n", talkTokens-6)
	tail := strings.Repeat(string(recorded), (1<<20)/len(recorded)+1)
	end := min(size, 1<<20)
	text := "\n" + tail[int64(len(tail)+len(last)+1)-end:] + last
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteAt([]byte(text), size-end); err == nil {
		err = f.Truncate(size)
	}
	return err
}

func longLoop(b *bench) (row, error) {
	r := row{Title: "The 10,000th iteration against the fourth", Text: "All the iterations between were played, so that the logs are as long as they get. The fourth, because the first ones also make the record and look at the work tree."}
	var err error
	if b.climbed, err = b.climb(iterations[:b.fewer(5, 3)]); err != nil {
		return r, err
	}
	r.Figures, err = b.race(b.climbed[0], b.climbed[len(b.climbed)-1])
	if err == nil {
		r.theSame(r.Figures[1], r.Figures[0])
	}
	return r, err
}

// iterations are those that are measured. They are even: then the list is the
// same each time.
var iterations = []int{4, 10, 100, 1000, 10_000}

// climb plays one stop after another on one stage, and returns a runner for each
// of the iterations.
func (b *bench) climb(iterations []int) (runners []runner, err error) {
	s, err := b.newStage(options{features: 10})
	if err != nil {
		return nil, err
	}
	list, err := os.OpenFile(s.listPath(), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for n := 2; ; n++ { // 1 began with the prompt
		state := "true "
		if n%2 == 1 {
			state = "false"
		}
		if _, err := list.WriteAt([]byte(state), s.open[0]); err != nil {
			return nil, err
		}
		at := *s // with files of its own to go back to
		if n == iterations[len(runners)] {
			if err := at.save(); err != nil {
				return nil, err
			}
		}
		if _, err := at.run(b.hook.argv); err != nil {
			return nil, err
		}
		if at.saved == nil {
			continue
		}
		want, err := at.said()
		if err != nil || want.Iteration != n {
			return nil, fmt.Errorf("iteration %d: %+v, %w", n, want, err)
		}
		if runners = append(runners, named("iteration "+number(n), at.play(b, b.hook, want))); len(runners) == len(iterations) {
			return runners, nil
		}
	}
}
