package agenthook

import "fmt"

// Rate is how many checks and rules held when an iteration was validated last.
type Rate struct {
	Iteration int `json:"iteration"`
	Passed    int `json:"passed"`
	Total     int `json:"total"`
}

// falls is how many times in a row the rate may not fall.
const falls = 2

// Note keeps the rate of an iteration, in which something was to hold.
func (r *Record) Note(now Rate) {
	rates := append([]Rate{}, r.Rates...)
	if n := len(rates); n > 0 && rates[n-1].Iteration == now.Iteration {
		rates = rates[:n-1]
	}
	rates = append(rates, now)
	r.Rates = rates[max(0, len(rates)-falls-1):]
}

// Regression says that fewer checks and rules hold from iteration to iteration, "" if that is not so. Then a person
// should look at the loop.
func (r Record) Regression() string {
	if len(r.Rates) <= falls {
		return ""
	}
	text := ""
	for i, rate := range r.Rates {
		if i > 0 {
			if was := r.Rates[i-1]; rate.Passed*was.Total >= was.Passed*rate.Total {
				return ""
			}
			text += ", then "
		}
		text += fmt.Sprintf("%d of %d", rate.Passed, rate.Total)
	}
	return "quality regression: fewer conditions hold from iteration to iteration: " + text
}
