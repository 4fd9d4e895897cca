package client

import (
	"testing"
	"time"
)

func TestRetryAt(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) // a Saturday
	rows := map[string]string{
		"Claude AI usage limit reached|1795240800":                              "2026-11-21T06:00:00Z",
		"usage limit reached|1795240800000":                                     "2026-11-21T06:00:00Z",
		"Your limit will reset at 3pm (America/New_York).":                      "2026-11-21T20:00:00Z",
		"You've hit your limit · resets 3:45am":                                 "2026-11-21T03:45:00Z",
		"5-hour limit reached ∙ resets 3am":                                     "2026-11-22T03:00:00Z",
		"weekly limit · resets Nov 25, 3pm (Europe/Berlin)":                     "2026-11-25T14:00:00Z",
		"weekly limit · resets November 25 at 12am":                             "2026-11-25T00:00:00Z",
		"resets Thu 15:00":                                                      "2026-11-26T15:00:00Z",
		"resets 12pm (No/Where)":                                                "",
		"retry until 2026-11-21T15:00:00+01:00 please":                          "2026-11-21T14:00:00Z",
		"Please try again in 5 minutes":                                         "2026-11-21T03:05:00Z",
		"retry after 90s":                                                       "2026-11-21T03:01:30Z",
		"Please try again in 11.5s. Visit":                                      "2026-11-21T03:00:11Z",
		"Try again at 11:36 PM.":                                                "2026-11-21T23:36:00Z",
		"or try again at Nov 22nd, 2026 1:44 AM.":                               "2026-11-22T01:44:00Z",
		"API Error: Request rejected (429) · This would exceed your rate limit": "",
		"it resets 3 counters":                                                  "",
		"usage limit reached|1731234567":                                        "", // past
		"usage limit reached|1999999999":                                        "", // not a provider's limit
		"resets 2026-02-30T15:00:00Z":                                           "",
		"resets Dec 25, 3pm":                                                    "", // too far ahead
		"":                                                                      "",
	}
	if !knowsPlaces() {
		rows["Your limit will reset at 3pm (America/New_York)."] = "2026-11-21T15:00:00Z"
		rows["weekly limit · resets Nov 25, 3pm (Europe/Berlin)"] = "2026-11-25T15:00:00Z"
		rows["resets 12pm (No/Where)"] = "2026-11-21T12:00:00Z"
	}
	for text, want := range rows {
		got := ""
		if at := RetryAt(text, now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("RetryAt(%q) = %q, want %q", text, got, want)
		}
	}
}
