//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// apart is how far apart two features are of which one depends on the other, in a list for lanes.
const apart = 20

// overWorker runs a loop whose lanes are worked by workers of eight lanes on this machine. $0 is the program, $1 the
// agent, $2 the number of lanes, and $3 a folder for what they leave.
const overWorker = `"$0" --agent "$1" --workers "$2" --engine embedded & run=$!
lanes=$2 workers=
while [ $lanes -gt 0 ]; do
	until line=$("$0" engine token worker$lanes 2>"$3/problem"); do kill -0 $run || exit 1; sleep 0.1; done
	line=${line##*RALPH_ENGINE=}
	RALPH_ENGINE=${line%% *} "$0" worker --lanes $((lanes < 8 ? lanes : 8)) --dir "$3/$lanes" >"$3/log$lanes" 2>&1 &
	workers="$workers $!" lanes=$((lanes - 8))
done
wait $run; status=$?
kill $workers; wait $workers
exit $status`

// byLanes is about lanes: with an agent that takes no time, where only the run's own work counts, and with one that
// takes a while, beside the least time that it could take.
func byLanes(b *bench) growth {
	features, second := b.fewer(200, 4), time.Duration(b.fewer(1000, 10))*time.Millisecond
	g := growth{Title: "Lanes of a run", Axis: "lanes", Text: fmt.Sprintf("The run has %d features, in memory. Each "+
		"feature depends on the one %d before it. The agent takes no time or one second. A worker runs eight lanes. The "+
		"ideal is only the agents' time.", features, apart)}
	for _, lanes := range []int{1, 4, 16}[:b.fewer(3, 2)] {
		p := point{lanes, number(lanes), make([]figure, 5)}
		chain := (features + apart - 1) / apart
		ideal := time.Duration(max((features+lanes-1)/lanes, chain)) * second
		p.Figures[4] = figure{Name: idealLanes, Median: ideal, P95: ideal}
		for _, i := range rand.Perm(4) {
			took := b.laneRun(features, lanes, time.Duration(i%2)*second, i >= 2)
			name := []string{quickLanes, slowLanes, quickWorker, slowWorker}[i]
			p.Figures[i] = figure{Name: name, Runs: 1, Median: took, P95: took}
		}
		g.Points = append(g.Points, p)
	}
	return g
}

// checked is the command of the checks of byChecks. It takes a while, and notes that it ran.
const checked = `echo >>$HOME/checks && sleep %s && test -f $RALPH_FEATURE.txt`

// byChecks is about lanes whose features have checks: how long a run takes, and how often a check runs.
func byChecks(b *bench) growth {
	short, features := time.Duration(b.fewer(1000, 10))*time.Millisecond, b.fewer(60, 3)
	g := growth{Title: "Lanes with checks", Axis: "sessions at a time", Text: fmt.Sprintf("The run has %d features, "+
		"in memory. The agent takes two seconds, and its check takes one. Up to %d checks run at a time. "+
		"The first row has no lanes.", features, atATime)}
	for _, lanes := range []int{0, 4, 8}[:b.fewer(3, 2)] {
		s := b.laneStage(options{features: features, run: true}, 2*short)
		rules := fmt.Sprintf(`{"bind": "prompt", "parallel": %d, "limits": {"max_iterations": %d},
			"checks": [{"command": %q}]}`, atATime, maxLoop,
			fmt.Sprintf(checked, fmt.Sprint(short.Seconds())))
		check(os.WriteFile(filepath.Join(s.loop, "ralph.json"), []byte(rules), 0o644))
		s.command(b.hook.argv[0], "trust", loopName, "--yes")
		command := b.laneCommand(s, lanes, false)
		if lanes == 0 {
			command = command[:len(command)-2]
		}
		took := must(play(command, s))
		said := must(os.ReadFile(s.answer))
		ran := bytes.Count(must(os.ReadFile(filepath.Join(s.root, "home", "checks"))), []byte("\n"))
		if !bytes.Contains(said, []byte("COMPLETE: "+loopName)) || ran < features || ran > 2*features {
			check(fmt.Errorf("%w: with %d lanes %d checks ran: %s", errDiffers, lanes, ran, said))
		}
		label := fmt.Sprintf("%d, %d checks", max(1, lanes), ran)
		g.Points = append(g.Points, point{max(1, lanes), label, []figure{{Name: ours, Runs: 1, Median: took, P95: took}}})
		check(os.RemoveAll(s.root))
	}
	return g
}

const atATime = 4

// The names of what works the list of lanes.
const (
	quickLanes  = "no time"
	slowLanes   = "1 s"
	quickWorker = "no time, over a worker"
	slowWorker  = "1 s, over a worker"
	idealLanes  = "ideal of 1 s"
)

// laneRun works a list with lanes, once, on a stage of its own. The agent takes so long.
func (b *bench) laneRun(features, lanes int, long time.Duration, worker bool) time.Duration {
	s := b.laneStage(options{features: features, run: true, lanes: true}, long)
	defer os.RemoveAll(s.root)
	took := must(play(b.laneCommand(s, lanes, worker), s))
	open := bytes.Count(must(os.ReadFile(s.list())), []byte(`"passes": false`))
	made := must(filepath.Glob(filepath.Join(s.project, "*.txt")))
	said := must(os.ReadFile(s.answer))
	if open > 0 || len(made) != s.openAtFirst() || !bytes.Contains(said, []byte("COMPLETE: "+loopName)) {
		check(fmt.Errorf("%w: with %d lanes %d features are open, %d are made: %s", errDiffers, lanes, open, len(made),
			said))
	}
	return took
}

// laneStage makes a stage for lanes: a repository with a commit, and an agent that takes so long.
func (b *bench) laneStage(o options, long time.Duration) *stage {
	s := b.newStage(o)
	s.agent("lane", b.agent, must(filepath.Rel(s.project, s.list())), "-work", long.String())
	s.command("git", "config", "user.name", "b")
	s.command("git", "config", "user.email", "b@example.com")
	s.command("git", "add", "-A")
	s.command("git", "commit", "-qm", "Begin")
	return s
}

func (b *bench) laneCommand(s *stage, lanes int, worker bool) []string {
	if worker {
		return []string{b.bash.argv[0], "-c", overWorker, b.runner.argv[0], "lane", fmt.Sprint(lanes), s.root}
	}
	return []string{b.runner.argv[0], "--agent", "lane", "--workers", fmt.Sprint(lanes)}
}
