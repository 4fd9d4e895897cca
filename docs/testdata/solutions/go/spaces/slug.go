// Package slug makes names for addresses from titles.
package slug

import "strings"

// Make returns the slug of a title.
func Make(title string) string {
	return strings.Join(strings.Fields(strings.ToLower(title)), "-")
}
