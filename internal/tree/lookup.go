package tree

import (
	"sort"
	"strings"
)

// Lookup looks names up in a list that is sorted by them. It is fast if they are looked up in that order.
type Lookup struct {
	Len  int
	Name func(i int) string
	next int
}

// ByPath looks up paths of entries.
func ByPath(list []Entry) *Lookup {
	return &Lookup{Len: len(list), Name: func(i int) string { return list[i].Path }}
}

// Find returns where a name is, or where it would be.
func (l *Lookup) Find(name string) (i int, is bool) {
	i = l.next
	is = i < l.Len && l.Name(i) == name
	if !is {
		i, is = sort.Find(l.Len, func(i int) int { return strings.Compare(name, l.Name(i)) })
	}
	l.next = i
	if is {
		l.next++
	}
	return i, is
}
