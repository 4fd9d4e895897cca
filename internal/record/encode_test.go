package record

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestEncode changes a record again and again. What is encoded is what it has then.
func TestEncode(t *testing.T) {
	r := Run{Schema: Schema, ID: "a1", Loop: "/loop", Options: Options{SessionTimeout: time.Hour}}
	steps := []func(){
		func() {},
		func() { r.WorkOn("a").Attempts++ },
		func() { r.WorkOn("<b> & \"c\"").Took = time.Second },
		func() { r.WorkOn("a").Spent.CostUSD = 0.5 },
		func() { r.WorkOn("").Checks = "2 checks passed" },
		func() { r.Status, r.Sessions = decide.Complete, 3 },
		func() { r.Work = r.Work[1:] },
		func() { r.Work = nil },
	}
	for i, step := range steps {
		step()
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(data)
		if err != nil {
			t.Fatalf("step %d: %v\n%s", i, err, data)
		}
		want := r
		want.encoded = nil
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("step %d: got %+v, want %+v\n%s", i, *got, want, data)
		}
	}
}

// TestEncodeLong encodes a record that has changed at one of many features. It encodes that one.
func TestEncodeLong(t *testing.T) {
	r := Run{}
	for n := range 1000 {
		r.WorkOn(fmt.Sprint("feature ", n))
	}
	calls := testing.AllocsPerRun(20, func() {
		r.WorkOn("feature 500").Attempts++
		if _, err := r.Encode(); err != nil {
			t.Fatal(err)
		}
	})
	if calls > 100 {
		t.Errorf("%v allocations", calls)
	}
}
