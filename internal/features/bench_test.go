package features

import (
	"fmt"
	"strings"
	"testing"
)

// long returns a list of n features like those that an agent writes.
func long(n int) []byte {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range n {
		fmt.Fprintf(
			&b,
			"  {\"id\": \"F%06d\", \"category\": \"functional\", \"title\": \"Feature number %d of the list works\", "+
				"\"description\": \"POST /thing/%d answers 204 and sets a cookie that lasts.\", \"passes\": %v},\n",
			i, i, i, i%2 == 0,
		)
	}
	return []byte(strings.TrimSuffix(b.String(), ",\n") + "\n]\n")
}

// BenchmarkParse does with a long list what a stop does.
func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		data := long(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				l, err := Parse(data)
				if err != nil {
					b.Fatal(err)
				}
				l.Digest()
				l.Next()
				l.Passed()
			}
		})
	}
}

// BenchmarkTakeFlags compares a long list with the trusted list.
func BenchmarkTakeFlags(b *testing.B) {
	l, err := Parse(long(6000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if changes := l.TakeFlags(l).Changes; changes != nil {
			b.Fatal(changes)
		}
	}
}
