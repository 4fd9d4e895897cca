package engine

import (
	"encoding/json"
	"testing"
)

// FuzzRecord reads any bytes as the record of a feature, which workers write. The result has an attempt that can be
// counted on from.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"attempt":1,"state":"claimed","worker":"w"}`))
	f.Add([]byte(`{"attempt":-1}`))
	f.Add([]byte(`{"attempt":9223372036854775807,"state":"merged"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r := parse(data); r.Attempt < 0 || r.Attempt > maxAttempt {
			t.Fatalf("%q: attempt %d", data, r.Attempt)
		}
	})
}

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
