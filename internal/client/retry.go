package client

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetry is the longest time until a provider lifts a limit. The longest limits are
// weekly.
const maxRetry = 8 * 24 * time.Hour

// RetryAt returns the time at which a rate limit will be lifted, in UTC. It reads the time
// from the text of the error. The result is zero if the text names no time, or a time that
// is past or too far ahead. These are the forms that clients show:
//
//	usage limit reached|1731234567            Unix time
//	... until 2026-11-21T15:00:00Z            RFC 3339
//	resets 3pm (Europe/Berlin)                the next 3pm there
//	resets Nov 25 at 3:30pm                   that day
//	resets Thu 15:00                          the next Thursday
//	try again in 5 minutes                    from now
//	try again at Nov 22nd, 2026 1:44 AM       that day
func RetryAt(text string, now time.Time) time.Time {
	at := parseRetry(text, now)
	if wait := at.Sub(now); wait <= 0 || wait > maxRetry {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Second)
}

// parseRetry is RetryAt without the bounds.
func parseRetry(text string, now time.Time) time.Time {
	if m := find(`\|(\d{10})(?:\d{3})?\b`, text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // ten digits always fit
		return time.Unix(seconds, 0)
	}
	if m := find(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, text); m != nil {
		at, _ := time.Parse(time.RFC3339, m[0]) // zero if it is not a valid date
		return at
	}
	if m := find(`(?i)\b(?:retry|again) (?:after|in) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s|m|h)`, text); m != nil {
		wait, _ := time.ParseDuration(m[1] + strings.ToLower(m[2])) // so few digits always fit
		return now.Add(wait)
	}
	m := find(`(?i)\b(?:resets?|try again)(?: at| on)?`+
		`(?: ([a-z]{3})[a-z]*\.?(?: (\d{1,2})(?:[a-z]{2}, \d{4})?)?,?(?: at)?)?`+ // Thu, Nov 25, or Nov 25th, 2026
		` (\d{1,2})(?::(\d\d))? ?([ap]m)?\b`+ // 3:30pm
		`(?: ?\(([A-Za-z0-9_+/-]+)\))?`, // (Europe/Berlin)
		text)
	if m == nil || m[4] == "" && m[5] == "" {
		return time.Time{}
	}
	return clock(now, m[1], m[2], m[3], m[4], strings.ToLower(m[5]), m[6])
}

// find returns the first match of a pattern and its groups, or nil. It compiles the pattern
// at each call, because few stops have an error.
func find(pattern, text string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(text)
}

// clock returns the next time at which a clock in zone shows the hour and the minute. half
// is "am", "pm" or "". If name is a weekday, or name and day are a date, the time is on that
// day. The result is zero if there is no such time within maxRetry.
func clock(now time.Time, name, day, hour, minute, half, zone string) time.Time {
	if zone != "" {
		place, err := time.LoadLocation(zone)
		switch {
		case err == nil:
			now = now.In(place)
		case knowsPlaces():
			return time.Time{} // there is no such zone
		} // without zone data, the zone is taken for this machine's own, which is that of now
	}
	h, _ := strconv.Atoi(hour) // the pattern allows only digits
	m, _ := strconv.Atoi(minute)
	if half != "" {
		h %= 12
		if half == "pm" {
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

// knowsPlaces reports whether this machine has time zone data. Windows has none.
func knowsPlaces() bool {
	_, err := time.LoadLocation("Europe/Berlin")
	return err == nil
}
