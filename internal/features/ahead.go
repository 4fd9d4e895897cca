package features

import (
	"runtime"
	"strings"
)

// ahead reads the second half of a long array while the first half is read. Where
// an item begins nobody knows who has not read all before it, so it is guessed: at
// text such as stood between two items before. What was read ahead counts only if
// the reader of the first half comes to that very place as to the beginning of an
// item, and nothing is wrong with it: from there it would have read the same. Else
// it is forgotten.
type ahead struct {
	parser
	from  int    // where its first item begins
	room  []Item // for both halves
	done  chan struct{}
	taken bool
}

const (
	// longText is worth a second thread, in bytes: to wake one takes as long as to
	// read a part of it.
	longText = 512 << 10

	// fewItems show what an array is like.
	fewItems = 64

	// maxAhead bounds for how many arrays of one text that is tried: each time, all
	// that is left may be looked through, and room for it be made.
	maxAhead = 4
)

// readAhead begins to, behind the first few items of an array; nil where that is not
// worth it.
func (p *parser) readAhead() *ahead {
	rest := p.Text[p.Pos-1:]
	next := strings.IndexByte(rest, '{')
	if next < 0 || len(rest) < p.long || len(p.problems) > 0 || runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	middle := len(rest) * 9 / 16 // a thread has to be woken
	found := strings.Index(rest[middle:], rest[:next+1]+p.seen[0].Text)
	if found < 0 {
		return nil
	}
	a := &ahead{parser: *p, from: p.Pos - 1 + middle + found + next, room: p.all[:cap(p.all)], done: make(chan struct{})}
	// Where its items belong, if those between are like the ones before them.
	at := max(len(p.all), min(cap(p.all), a.from/(p.Pos/len(p.all)+1)))
	p.all, a.all = p.all[:len(p.all):at], a.room[at:at]
	a.Pos, a.problems, a.numbered, a.traits = a.from, nil, false, traits{}
	go a.read()
	return a
}

func (a *ahead) read() {
	sound := false
	defer func() {
		// A bug has to be met where somebody answers for it: it is, in the same text.
		if recover() != nil || !sound {
			a.all = nil
		}
		close(a.done)
	}()
	a.next(nil, 1)
	for n := 2; a.Elem(); n++ {
		a.next(nil, n)
	}
	sound = !a.Bad() && len(a.problems) == 0 && !a.numbered
}

// join takes what was read ahead from where the n-th item begins, and tells whether
// it could.
func (p *parser) join(a *ahead, n int) bool {
	if a == nil || p.Pos != a.from {
		return false
	}
	<-a.done
	if len(a.all) == 0 || len(p.all)+len(a.all) > maxItems {
		return false
	}
	for i := range a.all {
		if !a.all[i].sub {
			a.all[i].number += int32(n - 1)
		}
	}
	if &p.all[0] == &a.room[0] { // and so it has not outgrown its part
		p.all = a.room[:len(p.all)]
	}
	p.add(a.traits)
	p.shuffled = p.shuffled || !ascends(&p.all[len(p.all)-1], &a.all[0])
	p.all, p.Scanner = append(p.all, a.all...), a.Scanner
	a.taken = true
	return true
}
