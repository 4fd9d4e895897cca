// Package slug makes names for addresses from titles.
package slug

// Make returns the slug of a title.
func Make(title string) string { return title }
