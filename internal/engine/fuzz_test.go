package engine

import (
	"encoding/json"
	"testing"
)

// FuzzCredential reads any text as a credential. One that is read is written as what is read again.
func FuzzCredential(f *testing.F) {
	f.Add(Credential{URL: "tls://h:1", Loop: "l", Worker: "w", Seed: "s", Pin: "p"}.String())
	f.Add("ralph1.!")
	f.Add("")
	f.Fuzz(func(t *testing.T, word string) {
		c, err := ParseCredential(word)
		if err != nil {
			return
		}
		if again, err := ParseCredential(c.String()); err != nil || again != c {
			text, _ := json.Marshal(c)
			t.Fatalf("%s is read as %+v: %v", text, again, err)
		}
	})
}
