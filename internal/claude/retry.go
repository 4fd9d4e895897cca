package claude

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetry is how far ahead a provider's limit may be lifted: the longest are
// weekly.
const maxRetry = 8 * 24 * time.Hour

// RetryAt reads from the text of a rate limit when it will be lifted, zero
// where it does not say. The forms are those that the host shows:
//
//	usage limit reached|1731234567            Unix time
//	... until 2026-11-21T15:00:00Z            RFC 3339
//	resets 3pm (Europe/Berlin)                the next 3pm there
//	resets Nov 25 at 3:30pm                   that day
//	resets Thu 15:00                          the next Thursday
//	try again in 5 minutes                    from now
func RetryAt(text string, now time.Time) time.Time {
	at := parseRetry(text, now)
	if wait := at.Sub(now); wait <= 0 || wait > maxRetry {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Second)
}

func parseRetry(text string, now time.Time) time.Time {
	if m := find(`\|(\d{10})(?:\d{3})?\b`, text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // ten digits always are one
		return time.Unix(seconds, 0)
	}
	if m := find(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, text); m != nil {
		at, _ := time.Parse(time.RFC3339, m[0]) // zero where it is no date
		return at
	}
	if m := find(`(?i)\b(?:retry|again) (?:after|in) (\d{1,6}) ?(s|m|h)`, text); m != nil {
		wait, _ := time.ParseDuration(m[1] + strings.ToLower(m[2])) // fits
		return now.Add(wait)
	}
	m := find(`(?i)\bresets?(?: at| on)?(?: ([a-z]{3})[a-z]*\.?(?: (\d{1,2}))?,?(?: at)?)? (\d{1,2})(?::(\d\d))? ?([ap]m)?\b(?: ?\(([A-Za-z0-9_+/-]+)\))?`, text)
	if m == nil || m[4] == "" && m[5] == "" {
		return time.Time{}
	}
	return clock(now, m[1], m[2], m[3], m[4], strings.ToLower(m[5]), m[6])
}

func find(pattern, text string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(text)
}

// clock returns the next time that a clock in zone shows the hour, on the named
// day of the month or of the week if there is one.
func clock(now time.Time, name, day, hour, minute, half, zone string) time.Time {
	if zone != "" {
		place, err := time.LoadLocation(zone)
		switch {
		case err == nil:
			now = now.In(place)
		case knowsPlaces():
			return time.Time{} // a time of nowhere
		} // else the host names the machine's own, which now is of
	}
	h, _ := strconv.Atoi(hour) // digits all
	m, _ := strconv.Atoi(minute)
	if half != "" {
		if h %= 12; half == "pm" {
			h += 12
		}
	}
	for n := range int(maxRetry/(24*time.Hour)) + 1 {
		at := time.Date(now.Year(), now.Month(), now.Day()+n, h, m, 0, 0, now.Location())
		named := name == "" ||
			day == "" && strings.EqualFold(at.Weekday().String()[:3], name) ||
			day != "" && strings.EqualFold(at.Month().String()[:3], name) && strconv.Itoa(at.Day()) == day
		if named && at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// knowsPlaces tells whether this machine has the world's time zones; Windows has not.
func knowsPlaces() bool {
	_, err := time.LoadLocation("Europe/Berlin")
	return err == nil
}
