package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
)

// pricesTime is how long a server may take to send its prices.
const pricesTime = 30 * time.Second

// takePrices puts the prices of a file or an address in force. Only a person may: a price of 0 would lift a limit in
// dollars.
func (v verbs) takePrices(w io.Writer, from string) error {
	if err := v.PersonOnly(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), pricesTime)
	defer cancel()
	data, source, err := readSource(ctx, v.Env.Cwd, from)
	if err != nil {
		return fmt.Errorf("no prices were taken: %w", err)
	}
	models, left, err := roster.ReadPrices(data)
	if err != nil {
		return fmt.Errorf("no prices were taken from %s: %w", source, err)
	}
	taken := roster.Prices{Source: source, Taken: time.Now().UTC().Truncate(time.Second), Models: models}
	if err := roster.SavePrices(v.Env.ConfigDir, taken); err != nil {
		return fmt.Errorf("no prices were taken: %w", err)
	}
	fmt.Fprintln(w, "prices: "+pricesInForce(taken))
	if left != "" {
		fmt.Fprintf(w, "warning: not all were taken: the name or the price of %s is wrong, and perhaps of others\n", left)
	}
	return nil
}

// readSource reads a file or an address, and says which in words that hold no password.
func readSource(ctx context.Context, dir, from string) (data []byte, source string, err error) {
	if !strings.Contains(from, "://") {
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		data, err = loopdir.ReadAny(from, roster.MaxPrices)
		return data, plain.Line(from, 500), err
	}
	address, err := url.Parse(from)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return nil, "", fmt.Errorf("%q is no address; want one that begins with https:// or http://, or a file",
			plain.Line(from, 200))
	}
	shown := *address
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	source = plain.Line(shown.String(), 500)
	data, err = get(ctx, address.String())
	if err != nil {
		err = fmt.Errorf("%s: %w", source, err)
	}
	return data, source, err
}

// get fetches an address. Its errors do not name it.
func get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	var data []byte
	if err == nil {
		defer answer.Body.Close()
		data, err = io.ReadAll(io.LimitReader(answer.Body, roster.MaxPrices+1))
	}
	switch failed, is := err.(*url.Error); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the server did not send all within %s; try again, or give a file", pricesTime)
	case is:
		return nil, fmt.Errorf("%w; try again, or give a file", failed.Err)
	case err != nil:
		return nil, fmt.Errorf("%w; try again, or give a file", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server answered %s; look whether the address is right", plain.Line(answer.Status, 100))
	case len(data) > roster.MaxPrices:
		return nil, fmt.Errorf("it is larger than %d MB; give a shorter list", roster.MaxPrices>>20)
	}
	return data, nil
}

// sourceOf returns the source of the prices of models, and their date.
func sourceOf(p roster.Prices) (from, of string) {
	if p.Source == "" {
		return program, agent.PricesOf
	}
	return plain.Line(p.Source, 500), p.Taken.Local().Format(time.DateOnly)
}

// pricesInForce says from where the prices of models are.
func pricesInForce(p roster.Prices) string {
	from, of := sourceOf(p)
	if p.Source == "" {
		return "of " + of
	}
	return fmt.Sprintf("%s of %s, from %s; of other models, those of %s", plain.Count(len(p.Models), "model"), of, from,
		agent.PricesOf)
}
