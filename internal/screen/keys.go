package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// helpRows are the keys and what they do.
var helpRows = [][2]string{
	{"↑ ↓, k j", "the loop before, the next one; in detail: scroll"},
	{"pgup pgdn, g G", "a page up or down, the first and the last one"},
	{"enter, →", "show the loop in detail"},
	{"esc, ←", "back to the list"},
	{"tab, 1 to 5", "the next part of a loop: features, agent, iterations, checks, log"},
	{"/", "filter the list by name, project or status; esc shows all"},
	{"p", "pause after this turn"},
	{"r", "resume"},
	{"+", "resume with ten more iterations"},
	{"c", "cancel"},
	{"n", "type a note for the agent's next prompt"},
	{"q, ctrl+c", "quit; the loops go on"},
}

// press does what a key says. text is what the key types.
func (m *model) press(key, text string) tea.Cmd {
	if key == "ctrl+c" {
		return tea.Quit
	}
	switch {
	case m.typing:
		m.editText(&m.filter, &m.typing, 60, key, text)
		m.update()
		return nil
	case m.noting:
		m.editText(&m.note, &m.noting, 2000, key, text)
		if key == "enter" && m.note != "" {
			m.askAction("note")
			return m.confirmAction("y")
		}
		return nil
	case m.ask != nil:
		return m.confirmAction(key)
	case m.help > 0 && key == "space":
		m.help++
		return nil
	case m.help > 0:
		m.help = 0
		return nil
	}
	m.said = ""
	switch key {
	case "q":
		return tea.Quit
	case "?":
		m.help = 1
		return nil
	case "n":
		m.noting, m.note = m.chosen() != nil, ""
		return nil
	case "p", "r", "+", "c":
		m.askAction(map[string]string{"p": "pause", "r": "resume", "+": "more", "c": "cancel"}[key])
		return nil
	}
	if m.open {
		return m.inDetail(key)
	}
	return m.inList(key)
}

// editText edits a text while it is being typed.
func (m *model) editText(edited *string, typing *bool, most int, key, text string) {
	switch key {
	case "enter":
		*typing = false
	case "esc":
		*typing, *edited = false, ""
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(*edited)
		*edited = (*edited)[:len(*edited)-n]
	default:
		if text == " " {
			*edited += text // Line would take it away at the end
		} else {
			*edited = plain.Text(*edited+strings.Join(strings.Fields(text), " "), most)
		}
	}
}

// askAction asks whether an action is to be done.
func (m *model) askAction(name string) {
	l := m.chosen()
	if l == nil {
		return
	}
	all := l.Actions()
	i := slices.IndexFunc(all, func(a watch.Action) bool { return a.Name == name })
	if i < 0 {
		m.said = name + " makes no sense now: the loop is " + string(l.Status.Status)
		return
	}
	m.ask = &all[i]
}

// confirmAction does the action after a yes, and nothing after any other key.
func (m *model) confirmAction(key string) tea.Cmd {
	if m.ask == nil { // it makes no sense, and that is said
		return nil
	}
	action, l := *m.ask, m.chosen()
	m.ask = nil
	if action.Name == "note" {
		action.More = []string{m.note}
	}
	if key != "y" && key != "Y" || l == nil {
		m.said = "nothing was done"
		return nil
	}
	env, dir := m.Env, l.Status.Loop
	return func() tea.Msg {
		said, err := watch.Do(env, dir, action)
		return done{said, err}
	}
}

func (m *model) inList(key string) tea.Cmd {
	page := max(1, m.height-4)
	switch key {
	case "up", "k":
		m.choose(m.at() - 1)
	case "down", "j":
		m.choose(m.at() + 1)
	case "pgup":
		m.choose(m.at() - page)
	case "pgdown", "space":
		m.choose(m.at() + page)
	case "g", "home":
		m.choose(0)
	case "G", "end":
		m.choose(len(m.loops) - 1)
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
		m.update()
	case "enter", "right", "l":
		if m.chosen() != nil {
			m.open = true
			m.detail = nil
			m.scroll = 0
			m.follow = true
			return m.read()
		}
	}
	return nil
}

// choose chooses a row of the list, the nearest one that there is.
func (m *model) choose(row int) {
	if len(m.loops) > 0 {
		m.key = m.loops[min(max(row, 0), len(m.loops)-1)].Key
	}
}

func (m *model) inDetail(key string) tea.Cmd {
	page := max(1, m.height-8)
	switch key {
	case "esc", "left", "h", "backspace":
		m.open, m.detail = false, nil
		m.update()
	case "tab":
		m.show((m.section + 1) % len(sections))
	case "shift+tab":
		m.show((m.section + len(sections) - 1) % len(sections))
	case "1", "2", "3", "4", "5":
		m.show(int(key[0] - '1'))
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-page)
	case "pgdown", "space":
		m.move(page)
	case "g", "home":
		m.scroll, m.follow = 0, false
	case "G", "end":
		m.follow = true
	}
	return nil
}

func (m *model) show(section int) {
	m.section = section
	m.scroll = 0
	m.follow = true
}

// move scrolls. detailLines keeps the result within the section.
func (m *model) move(by int) { m.scroll, m.follow = max(0, m.scroll+by), false }
