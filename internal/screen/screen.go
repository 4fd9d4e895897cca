// Package screen shows all loops and runs in a terminal: a list, and one of them in detail.
package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Options say what is shown.
type Options struct {
	Env     loop.Env
	Watcher *watch.Watcher
	Only    func(l *watch.Loop) bool // nil: all loops
	Colour  bool
}

// Run shows the loops until the person quits, or ctx ends.
func Run(ctx context.Context, o Options) error {
	_, err := tea.NewProgram(newModel(o), tea.WithContext(ctx)).Run()
	if ctx.Err() != nil {
		return nil // a signal ended it
	}
	return err
}

// model is what the screen shows. Bubble Tea gives it one message after the other.
type model struct {
	Options
	paint         cli.Screen
	width, height int

	loops  []watch.Loop // that are shown
	key    string       // of the loop that is chosen; "": none
	top    int          // the first row of the list that is seen
	filter string
	typing bool // the filter is being typed
	noting bool // a note is being typed
	note   string

	open    bool          // one loop is shown in detail
	detail  *watch.Detail // of the chosen loop; nil: it is not read yet
	section int
	scroll  int // lines from the top of the section; a section that grows is followed from its end
	follow  bool

	ask  *watch.Action // that waits for a yes
	said string        // by the last action
	help int           // the page of the keys that is shown, from 1; 0: none
}

func newModel(o Options) *model {
	m := &model{Options: o, paint: cli.Screen{Colour: o.Colour}, width: 80, height: 24, follow: true}
	m.update()
	return m
}

// The messages beside those of the terminal.
type (
	changed struct{}
	tick    struct{}
	opened  struct {
		key    string
		detail *watch.Detail
		err    error
	}
	done struct {
		said string
		err  error
	}
)

func (m *model) Init() tea.Cmd { return tea.Batch(m.wait(), m.ticking()) }

// wait waits for the next change of the picture.
func (m *model) wait() tea.Cmd {
	return func() tea.Msg {
		<-m.Watcher.Changes
		time.Sleep(atMost)
		return changed{}
	}
}

// atMost is the least time between two pictures.
const atMost = 100 * time.Millisecond

// ticking lets the clocks of the screen go on.
func (m *model) ticking() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} })
}

// read reads the chosen loop in detail.
func (m *model) read() tea.Cmd {
	l := m.chosen()
	if !m.open || l == nil {
		return nil
	}
	key := l.Key
	dir := l.Status.Loop
	env := m.Env
	return func() tea.Msg {
		d, err := watch.Open(env, dir)
		return opened{key, d, err}
	}
}

// update takes the loops of the last picture that are to be shown. The chosen loop stays chosen.
func (m *model) update() {
	m.loops = nil
	for _, l := range m.Watcher.Picture().Loops {
		if (m.Only == nil || m.Only(&l)) && l.Has(m.filter) {
			m.loops = append(m.loops, l)
		}
	}
	if m.chosen() == nil && !m.open {
		m.key = ""
		if len(m.loops) > 0 {
			m.key = m.loops[0].Key
		}
	}
}

func (m *model) at() int {
	return slices.IndexFunc(m.loops, func(l watch.Loop) bool { return l.Key == m.key })
}

func (m *model) chosen() *watch.Loop {
	if i := m.at(); i >= 0 {
		return &m.loops[i]
	}
	return nil
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case changed:
		m.update()
		return m, tea.Batch(m.wait(), m.read())
	case tick:
		l := m.chosen()
		if m.open && l != nil && l.Works() { // what the agent says is no change of the loop
			return m, tea.Batch(m.ticking(), m.read())
		}
		return m, m.ticking()
	case opened:
		if msg.err != nil {
			m.said = plain.Line(msg.err.Error(), 500)
		} else if msg.key == m.key {
			m.detail = msg.detail
		}
	case done:
		m.said = msg.said
		if msg.err != nil {
			m.said = "failed: " + plain.Line(msg.err.Error(), 500)
		}
	case tea.KeyPressMsg:
		return m, m.press(msg.String(), msg.Text)
	}
	return m, nil
}

func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "ralph"
	return v
}

// lines returns the whole screen: no line is wider than it, and there are no more than it has.
func (m *model) lines() []string {
	height := max(3, m.height)
	var body []string
	switch {
	case m.help > 0:
		pages := slices.Collect(slices.Chunk(m.helpLines(), height-1))
		body = pages[(m.help-1)%len(pages)]
	case m.open:
		body = m.detailLines(height - 1)
	default:
		body = m.listLines(height - 1)
	}
	for len(body) < height-1 {
		body = append(body, "")
	}
	return append(body[:height-1], m.bottom())
}

// bottom is the last line: a question, an answer, or the keys.
func (m *model) bottom() string {
	switch {
	case m.typing:
		return m.fit("filter: " + m.filter + "▏")
	case m.noting:
		return m.fit("note: " + m.note + "▏")
	case m.ask != nil:
		name := m.key
		if l := m.chosen(); l != nil {
			name = l.Name
		}
		return m.paint.Paint(cli.Yellow, m.fit(fmt.Sprintf(m.ask.Ask, name)+" [y/N]"))
	case m.said != "":
		return m.fit(strings.Join(strings.Fields(m.said), " "))
	case m.help > 0:
		return m.fit("space next page · other keys go back")
	case m.open:
		return m.paint.Paint(cli.Dim, m.fit("esc back · tab next part · n note · ? help · q quit"))
	}
	return m.paint.Paint(cli.Dim, m.fit("enter open · / filter · n note · ? help · q quit"))
}
