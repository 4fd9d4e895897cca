package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Status is what the engine of a folder has.
type Status struct {
	Loop    string   `json:"loop"`
	URL     string   `json:"url"`
	Problem string   `json:"problem,omitempty"` // why it cannot be asked; "": none
	Workers []string `json:"workers"`           // who has a key
	Open    int      `json:"open"`              // features that no worker has
	Merged  int      `json:"merged"`            // features that were accepted
	Holders []Holder `json:"holders"`           // since: the last sign of life of the worker
}

// Look asks the engine that has a folder. It changes nothing. The error is ErrNoEngine if none has had the folder.
func Look(ctx context.Context, dir string) (Status, error) {
	is, err := read(dir)
	switch {
	case err != nil:
		return Status{}, err
	case is.URL == "":
		return Status{}, ErrNoEngine
	}
	s := Status{Loop: is.Name, URL: is.URL, Workers: []string{}, Holders: []Holder{}}
	for _, w := range is.Workers {
		if w.Key != "" {
			s.Workers = append(s.Workers, w.Name)
		}
	}
	slices.Sort(s.Workers)
	if err := s.ask(ctx, is); err != nil {
		s.Problem = plainly(err).Error()
	}
	return s, nil
}

// ask reads all orders, and what their holders have said last.
func (s *Status) ask(ctx context.Context, is about) error {
	o := Options{Loop: is.Name, Creds: is.Creds}.filled()
	_, options, err := o.withCreds()
	if is.Creds == "" {
		options, err = Credential{Seed: is.Seed, Pin: is.Pin}.options()
	}
	if err != nil {
		return err
	}
	c, err := dial(o, is.Local, append(options, nats.NoReconnect())...)
	if err != nil {
		return errors.New("it does not run")
	}
	defer c.nc.Close()
	err = c.orders(ctx, func(feature string, o order, m message) {
		switch {
		case o.State == stateMerged:
			s.Merged++
		case o.State == stateOpen && o.Holder == "":
			s.Open++
		case o.State == stateOpen:
			s.Holders = append(s.Holders, Holder{
				Feature: feature, Attempt: o.Attempt, Worker: workerOf(o.Holder), State: o.Holder, Since: m.at,
			})
		}
	})
	for i := range s.Holders {
		h := &s.Holders[i]
		said := word{State: stateClaimed}
		is, failed := c.said(ctx, h.Worker, asked{Last: c.claim(h.State) + "say"})
		if failed == nil && is.seq > 0 {
			_ = json.Unmarshal(is.data, &said) // what it says is shown, and no more
			h.Since = is.at
		}
		h.State = plain.Line(said.State, 40)
		h.Machine = plain.Line(said.Machine, 80)
	}
	slices.SortFunc(s.Holders, func(a, b Holder) int { return strings.Compare(a.Feature, b.Feature) })
	return err
}
