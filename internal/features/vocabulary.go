package features

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// ownWord is a status word that a list names beside its items, and what it means there.
type ownWord struct {
	text  string
	state state
	known bool // what it means
}

var vocabularyKeys = table.Set("vocabulary keys")

// vocabulary returns the status words that the list names. More says that it explains one
// that we do not know.
func (p *parser) vocabulary() (words []ownWord, more bool) {
	add := func(word, meaning string) {
		word = strings.TrimSpace(word)
		s, known := stateOf(word)
		if !known && meaning != "" {
			s, known = meaningOf(meaning)
			more = more || known
		}
		if word != "" {
			words = append(words, ownWord{word, s, known})
		}
	}
	read := func(key string, v gjson.Result) {
		switch {
		case !vocabularyKeys()[key]:
		case v.IsObject():
			turned := false // {"done": "✅"}
			for _, meaning := range v.ForEach {
				turned = turned || p.uses(meaning.Str)
			}
			for word, meaning := range v.ForEach {
				if turned {
					word, meaning = meaning, word
				}
				add(word.Str, meaning.String())
			}
		case v.IsArray():
			for _, word := range v.Array() {
				add(word.Str, "")
			}
		default:
			for word := range strings.FieldsFuncSeq(v.Str, func(r rune) bool { return strings.ContainsRune("|,/;", r) }) {
				add(word, "")
			}
		}
	}
	for _, m := range p.beside {
		read(m.key, m.value)
		if m.value.IsObject() && !vocabularyKeys()[m.key] {
			for key, v := range m.value.ForEach {
				read(key.Str, v)
			}
		}
	}
	return words, more
}

// uses tells whether a word is the status of an item.
func (p *parser) uses(word string) bool {
	return word != "" && slices.ContainsFunc(p.all, func(i Item) bool { return i.mark.isWord() && i.word() == word })
}

// meaningOf returns the state that the explanation of a word names first.
func meaningOf(text string) (s state, known bool) {
	if s, known = stateOf(text); known {
		return s, true
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("_-'", r) })
	for i, word := range words {
		if i+1 < len(words) {
			if s, known = stateOf(word + "_" + words[i+1]); known {
				return s, true
			}
		}
		if s, known = stateOf(word); known {
			return s, true
		}
		if strings.EqualFold(word, "not") {
			return open, true
		}
	}
	return open, false
}

// stateOf returns what a status word means in this list, and whether that is known.
func (p *parser) stateOf(word string) (s state, known bool) { return stateIn(p.words, word) }

// isStatus tells whether a value is a known status word.
func (p *parser) isStatus(value string) bool {
	_, known := p.stateOf(unquote(value))
	return known
}

func stateIn(words []ownWord, word string) (s state, known bool) {
	if s, known = stateOf(word); !known {
		if i := slices.IndexFunc(words, func(w ownWord) bool { return w.text == word }); i >= 0 {
			return words[i].state, words[i].known
		}
	}
	return s, known
}
