package agent

import "testing"

// eventSamples are rows for replay, by the name of the format. The samples are what the versions of the rows printed,
// with a scripted model behind them.
var eventSamples = map[string]string{}

// eventUntil says when the limit of a sample is reset. All others do not say it.
var eventUntil = map[string]string{}

// eventDenied says how many tools were refused in a sample. In all others none was.
var eventDenied = map[string]map[string]int{}

func TestEventSamples(t *testing.T) {
	for output, rows := range eventSamples {
		t.Run(output, func(t *testing.T) { replay(t, output, rows, eventUntil, eventDenied[output]) })
	}
}
