package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Trust is the record of the ralph.json that a person has trusted, kept
// outside the project as trust.json. It holds the text itself, so that the
// loop goes on under what was trusted whatever the agent does to the file.
type Trust struct {
	Schema int
	SHA256 string // of Text
	Text   string

	Revoked bool // a person took it back: no command runs, and the rest holds

	SearchPath string            // PATH that commands run with
	Env        map[string]string // variables that decide what programs load, as they were
	Features   map[string]string // identities of the list's features, by id
	Own        bool              // the features' own checks are trusted
	Manual     []string          // what reads like a command in them, but names no program
	Ignored    string            // hash of the rules by which git ignores files
	Files      map[string]string // sha256 of files that commands or "protect" name, by path below the project
}

// Fields are the keys of the record and their values.
func (t *Trust) Fields() jsontext.Object {
	return jsontext.Object{
		"schema", &t.Schema, "sha256", &t.SHA256, "text", &t.Text, "revoked", &t.Revoked,
		"searchPath", &t.SearchPath, "env", &t.Env, "features", &t.Features, "own", &t.Own, "manual", &t.Manual, "ignored", &t.Ignored, "files", &t.Files,
	}
}

// NewTrust records text as the ralph.json that is trusted, with the PATH that its
// commands run with.
func NewTrust(text []byte, searchPath string) Trust {
	return Trust{Schema: 1, SHA256: digest(text), Text: string(text), SearchPath: searchPath}
}

// ParseTrust reads trust.json.
func ParseTrust(data []byte) (Trust, error) {
	var t Trust
	if err := t.Fields().Read(data); err != nil {
		return Trust{}, err
	}
	if t.Schema != 1 || t.SHA256 != digest([]byte(t.Text)) {
		return Trust{}, fmt.Errorf("not a trust record of this version")
	}
	return t, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// InForce is the configuration that holds, and how it came to.
type InForce struct {
	Config
	Changed   bool // ralph.json is not what was trusted; the trusted one holds
	Untrusted int  // commands that do not run because nobody trusted them

	Trust        // what a person has trusted; zero where there is no record
	Trusted bool // there is one
}

// Choose settles which configuration holds: the trusted one where there is a
// record, else ralph.json. Its commands hold only where they are trusted. text is nil
// where there is no ralph.json.
func Choose(trust *Trust, text []byte) (in InForce, err error) {
	if text == nil {
		text = []byte("{}")
	}
	if trust != nil {
		in.Trust, in.Trusted, in.Changed = *trust, true, digest(text) != trust.SHA256
		text = []byte(trust.Text)
	}
	if in.Config, err = Parse(text); in.Trusted && !in.Revoked {
		return in, err
	}
	in.Untrusted = len(in.Notifiers)
	in.Notifiers = nil
	if in.Source.Given() {
		in.Source.Untrusted = true
		in.Untrusted += len(in.Source.Commands())
	}
	for i := range in.Checks {
		in.withhold(&in.Checks[i])
	}
	for i := range in.Evaluators {
		if in.Evaluators[i].Preset == "" {
			in.Evaluators[i].Untrusted = true
			in.Untrusted++
		}
	}
	return in, err
}

// withhold lets a check's command not run. It stays, and fails: a check that nobody
// trusts is no reason to believe.
func (in *InForce) withhold(c *Check) {
	if c.Runs() {
		c.Untrusted = true
		in.Untrusted++
	}
}
