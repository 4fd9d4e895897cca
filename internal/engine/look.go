package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Folder is the name of the coordinator's folder in a loop's state folder.
const Folder = "engine"

// Status is what the engine of a folder has.
type Status struct {
	Loop    string   `json:"loop"`
	URL     string   `json:"url"`
	Problem string   `json:"problem,omitempty"` // why it cannot be asked; "": it answers
	Workers []string `json:"workers"`           // who has a key of ours, by name
	Open    int      `json:"open"`              // how many features no worker has
	Merged  int      `json:"merged"`            // how many the coordinator has accepted
	Holders []Holder `json:"holders"`           // Since is when the record was written last: the last sign of the worker
}

// Look asks the engine that has a folder. It changes nothing. The error is ErrNoEngine if none has had the folder.
func Look(ctx context.Context, dir string) (Status, error) {
	is, keys, err := readKeys(dir)
	if err != nil {
		return Status{}, err
	}
	s := Status{Loop: is.Loop, URL: is.URL, Workers: []string{}, Holders: []Holder{}}
	for _, k := range keys {
		s.Workers = append(s.Workers, k.Name)
	}
	slices.Sort(s.Workers)
	if err := s.ask(ctx, is); err != nil {
		s.Problem = err.Error()
	}
	return s, nil
}

// ask reads all records.
func (s *Status) ask(ctx context.Context, is about) error {
	o, err := Options{Loop: is.Loop, Creds: is.Creds, Worker: "look-" + nonce()}.checked()
	if err != nil {
		return err
	}
	_, options, err := o.withCreds()
	if is.Seed != "" {
		options, err = Credential{Seed: is.Seed, Pin: is.Pin}.options()
	}
	if err != nil {
		return err
	}
	conn, err := dial(o, is.Local, append(options, nats.NoReconnect())...)
	if err != nil {
		return errors.New("it does not run")
	}
	defer conn.nc.Close()
	if err := conn.bind(ctx); err != nil {
		return err
	}
	w, err := conn.kv.WatchFiltered(ctx, []string{"c.*", "m.*"}, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case entry := <-w.Updates():
			if entry == nil { // all that is there has been told
				slices.SortFunc(s.Holders, func(a, b Holder) int { return strings.Compare(a.Feature, b.Feature) })
				return nil
			}
			s.add(entry)
		case <-time.After(answerTime):
			return errors.New("it does not answer")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Status) add(entry jetstream.KeyValueEntry) {
	kind, coded, _ := strings.Cut(entry.Key(), ".")
	feature, err := unkey(coded)
	r := parse(entry.Value())
	switch {
	case kind == "m":
		s.Merged++
	case err != nil:
	case r.State == stateOpen:
		s.Open++
	case r.held():
		s.Holders = append(s.Holders, Holder{feature, r.Attempt, r.worker(), r.Machine, r.State, entry.Created()})
	}
}
