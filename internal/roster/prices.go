package roster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// MaxPrices is how many bytes a list of prices may have.
const MaxPrices = 16 << 20

// pricesFile is beside the person's own configuration.
const pricesFile = "prices.json"

// Prices are those that a person took from a file or from the web.
type Prices struct {
	Source string        `json:"source"`
	Taken  time.Time     `json:"taken"`
	Models []agent.Price `json:"models"` // under their plain names
}

// ReadPrices reads a list of prices in the form of LiteLLM: an object with an object for each model, whose keys say
// what one token costs. It takes the models that write text. Several names may mean one model. Then the name without a
// provider counts, and of those the shortest; else the highest price: a limit in dollars must not come too late.
// left is the first model whose price is wrong; "" if there is none. Such a model is not taken.
func ReadPrices(data []byte) (models []agent.Price, left string, err error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, "", err
	}
	names := map[string]string{}
	prices := map[string]agent.Price{}
	gjson.ParseBytes(text).ForEach(func(key, entry gjson.Result) bool {
		switch mode := entry.Get("mode"); {
		case !entry.IsObject() || mode.Exists() && !slices.Contains([]string{"chat", "completion", "responses"}, mode.Str):
			return true
		case !entry.Get("input_cost_per_token").Exists() || !entry.Get("output_cost_per_token").Exists():
			return true
		}
		price := agent.Price{Model: agent.PlainModel(key.Str)}
		if !agent.IsModel(price.Model) || !readPrice(entry, &price) {
			left = cmp.Or(left, plain.Line(key.Str, 80))
			return true
		}
		if had, is := prices[price.Model]; !is || better(key.Str, price, names[price.Model], had) {
			names[price.Model] = key.Str
			prices[price.Model] = price
		}
		return true
	})
	models = slices.SortedFunc(maps.Values(prices), func(a, b agent.Price) int { return cmp.Compare(a.Model, b.Model) })
	if len(models) == 0 && left == "" {
		err = errors.New(`it has no price of a model that writes text; want a list as LiteLLM has it, such as ` +
			`{"gpt-5": {"input_cost_per_token": 0.00000125, "output_cost_per_token": 0.00001}}`)
	} else if len(models) == 0 {
		err = fmt.Errorf("every price in it is wrong, that of %s first; a price must be a number from 0 to 1, in dollars "+
			"for a token", left)
	}
	return models, left, err
}

// readPrice reads what a million tokens cost, and reports whether all of it is right. What a list does not say of the
// cache costs as much as other input.
func readPrice(entry gjson.Result, price *agent.Price) bool {
	for _, one := range []struct {
		key   string
		field *float64
	}{
		{"input_cost_per_token", &price.Input}, {"output_cost_per_token", &price.Output},
		{"cache_read_input_token_cost", &price.CacheRead}, {"cache_creation_input_token_cost", &price.CacheWrite},
	} {
		value := entry.Get(one.key)
		switch {
		case !value.Exists():
			*one.field = price.Input
		case value.Type != gjson.Number || !(value.Num >= 0 && value.Num <= 1):
			return false
		default:
			*one.field = math.Round(value.Num*1e12) / 1e6 // 1.25, not 1.2499999999999998
		}
	}
	return true
}

// better reports whether a name and its price stand for a model rather than those that were there before.
func better(name string, price agent.Price, hadName string, had agent.Price) bool {
	provider, hadProvider := strings.Contains(name, "/"), strings.Contains(hadName, "/")
	switch {
	case provider != hadProvider:
		return hadProvider
	case provider:
		return price.Input+price.Output > had.Input+had.Output
	}
	return len(name) < len(hadName)
}

// SavePrices puts prices in force, in the place of those that a person took before.
func SavePrices(configDir string, p Prices) error {
	was, path, err := loopdir.UserFile(configDir, pricesFile, MaxPrices)
	if err == nil && path == "" {
		err = errors.New("there is no folder for your configuration; set HOME")
	}
	if err != nil {
		return err
	}
	text, err := jsontext.Indent(p)
	if err != nil {
		return err
	}
	return loopdir.ReplaceIf(path, was, text)
}

// LoadPrices returns the prices that a person took; without any, no source.
func LoadPrices(configDir string) (p Prices, err error) {
	text, path, err := loopdir.UserFile(configDir, pricesFile, MaxPrices)
	if err != nil || text == nil {
		return p, err
	}
	err = jsontext.Read(text, &p)
	for _, m := range p.Models {
		if err == nil && !(min(m.Input, m.Output, m.CacheRead, m.CacheWrite) >= 0) {
			err = fmt.Errorf("the price of %s is below 0", plain.Line(m.Model, 80))
		}
	}
	if err != nil {
		return Prices{}, fmt.Errorf("%s: %w; remove the file, or take prices again with 'ralph-runner agents --prices'",
			path, err)
	}
	return p, nil
}
