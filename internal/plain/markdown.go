package plain

import "strings"

// Markdown keeps foreign text from being Markdown or HTML.
func Markdown(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "`", "\\`", "*", "\\*", "_", "\\_",
		"[", "\\[", "]", "\\]", "#", "\\#").Replace(text)
}
