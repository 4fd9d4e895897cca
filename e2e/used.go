//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// cmdUsed asserts that a run's iterations.jsonl has exactly the tokens that the
// current model said it used, and for each session the dollars that the client
// itself said: used FOLDER. With "!" the tokens must differ.
func cmdUsed(ts *testscript.TestScript, neg bool, args []string) {
	m := ts.Value(models{}).(map[string]*model)[""]
	if len(args) != 1 || m == nil {
		ts.Fatalf("usage: used FOLDER, after a run")
	}
	folder := ts.MkAbs(args[0])
	text, err := os.ReadFile(filepath.Join(folder, "iterations.jsonl"))
	ts.Check(err)
	var sum usage
	for line := range bytes.Lines(text) {
		session := gjson.ParseBytes(line)
		tokens := session.Get("tokens")
		sum.Input, sum.Output = sum.Input+tokens.Get("input").Int(), sum.Output+tokens.Get("output").Int()
		sum.CacheRead += tokens.Get("cacheRead").Int()
		sum.CacheWrite += tokens.Get("cacheWrite").Int()
		ts.Check(sameCost(folder, session))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if (sum == m.used) == neg {
		ts.Fatalf("iterations.jsonl has %+v, and the model used %+v; equal must be %v", sum, m.used, !neg)
	}
}

// sameCost compares the dollars of a session with what the client said last in its log, if it says a sum.
func sameCost(folder string, session gjson.Result) error {
	name := filepath.Join(folder, "logs", session.Get("runId").Str, session.Get("session").Raw+".log")
	log, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	said := gjson.Result{}
	for line := range bytes.Lines(log) {
		if cost := gjson.GetBytes(line, "total_cost_usd"); cost.Exists() {
			said = cost
		}
	}
	if !said.Exists() && session.Get("agent").Str != "claude" {
		return nil // it prints no sum
	}
	// A number may be written in two ways.
	if got := session.Get("costUsd"); !said.Exists() || math.Abs(got.Float()-said.Float()) > 1e-9 {
		return fmt.Errorf("session %s cost %q, and the client said %q", session.Get("session").Raw, got.Raw, said.Raw)
	}
	return nil
}
