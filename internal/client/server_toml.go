package client

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Codex keeps its servers as tables of TOML: [mcp_servers.NAME]. A table at the end of the file is valid whatever comes
// before it, so nothing else of the file is read but the headers of tables.

func (s Server) header() string { return "[mcp_servers." + s.Name + "]" }

// block returns the lines of the table.
func (s Server) block() string {
	lines := []string{s.header(), "command = " + quote(s.Command), "args = " + quote(s.Args)}
	if len(s.Env) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(s.Env)) {
			pairs = append(pairs, key+" = "+quote(s.Env[key]))
		}
		lines = append(lines, "env = { "+strings.Join(pairs, ", ")+" }")
	}
	return strings.Join(lines, "\n")
}

// addTOML adds the entry at the end of a TOML file. The result is the text itself if it has this entry.
func (s Server) addTOML(data []byte) ([]byte, error) {
	text := string(data)
	block, newline := s.block(), "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
		block = strings.ReplaceAll(block, "\n", newline)
	}
	if begin, _ := s.table(text); begin >= 0 {
		if strings.Contains(text[begin:], block) {
			return data, nil
		}
		return nil, ErrHas
	}
	for line := range strings.Lines(text) {
		if key, _, is := strings.Cut(line, "="); is && strings.TrimSpace(key) == "mcp_servers" {
			return nil, errors.New("it has mcp_servers as one value; add the entry there yourself")
		}
	}
	switch {
	case strings.HasSuffix(text, "\r"):
		return nil, errors.New("it ends in the middle of a line end")
	case text == "":
		return []byte(block + newline), nil
	case !strings.HasSuffix(text, "\n"):
		return []byte(text + newline + block), nil
	}
	return []byte(text + newline + block + newline), nil
}

// table returns where the entry's table begins and ends, -1 if there is none.
func (s Server) table(text string) (begin, end int) {
	at, begin := 0, -1
	for line := range strings.Lines(text) {
		word := strings.TrimSpace(line)
		isHeader := strings.HasPrefix(word, "[")
		name, _, _ := strings.Cut(word, "#")
		switch {
		case begin >= 0 && isHeader && !strings.HasPrefix(word, strings.TrimSuffix(s.header(), "]")+"."):
			return begin, at
		case begin < 0 && strings.TrimSpace(name) == s.header():
			begin = at
		}
		at += len(line)
	}
	return begin, at
}

// command returns the program of a table.
func command(table string) string {
	for line := range strings.Lines(table) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) != "command" {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" {
			return ""
		}
		quoted, _, _ := strings.Cut(value[1:], value[:1])
		return quoted
	}
	return ""
}

// removeTOML removes the entry of that name, with what belongs to it. The result is nil if nothing is left.
func (s Server) removeTOML(data []byte) ([]byte, error) {
	text := string(data)
	begin, end := s.table(text)
	if begin < 0 {
		return data, nil
	}
	if !s.starts(command(text[begin:end])) {
		return nil, ErrHas
	}
	head, tail := text[:begin], text[end:]
	newline := "\n"
	if first, _, _ := strings.Cut(text[begin:], "\n"); strings.HasSuffix(first, "\r") {
		newline = "\r\n"
	}
	// addTOML put an empty line before the table or, behind a last line without an end, that end.
	ended := strings.HasSuffix(text, "\n")
	if ended && strings.HasSuffix(head, "\n"+newline) || !ended && tail == "" {
		head = strings.TrimSuffix(head, newline)
	}
	if head+tail == "" {
		return nil, nil
	}
	return []byte(head + tail), nil
}
