package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Trust is the record of the ralph.json that a person has trusted. The file
// trust.json outside the project keeps it. The record has the whole text, so that
// the loop goes on under the trusted text even if the agent changes ralph.json.
type Trust struct {
	Schema int `json:"schema,omitzero"`
	// of Text, in hex
	SHA256 string `json:"sha256,omitzero"`
	Text   string `json:"text,omitzero"`

	// the person took the trust back: no command runs, and the rest of Text still holds
	Revoked bool `json:"revoked,omitzero"`

	// the PATH that commands run with
	SearchPath string `json:"searchPath,omitzero"`
	// where things were when the person trusted them, by variable
	EnvValues map[string]string `json:"env,omitzero"`
	// salted hashes of all variables
	EnvSums map[string]string `json:"envSums,omitzero"`
	// of the hashes
	EnvSalt string `json:"envSalt,omitzero"`
	// sha256 of the text of the list, in hex; "": the loop has no contract. A file beside this record has the text.
	ListSHA256 string `json:"listSha256,omitzero"`
	ListText   string `json:"-"`
	// the list checks are trusted
	ListChecks bool `json:"own,omitzero"`
	// texts of the .gitignore files, by folder; nil: none was read
	Rules map[string]string `json:"rules,omitzero"`
	// of the project as it was trusted; "": nothing runs in a copy
	Baseline string `json:"baseline,omitzero"`
	// when it was taken
	BaselineAt time.Time `json:"baselineAt,omitzero"`
	// the top of what the baseline has, as a slash-separated path from the project
	Top string `json:"top,omitzero"`
	// the folder of the copy, wherever the variables of a later stop say that caches are
	CopyDir string `json:"copyDir,omitzero"`
	// what "writable" names, without links
	Folders []string `json:"writable,omitzero"`
}

// trustSchema is the version of the record. It is raised when more is held, or something
// is identified in another way, so that what another record lacks is not taken as held.
const trustSchema = 9

// NewTrust returns a record that trusts text as ralph.json. searchPath is the PATH
// that its commands run with.
func NewTrust(text []byte, searchPath string) Trust {
	return Trust{Schema: trustSchema, SHA256: digest(text), Text: string(text), SearchPath: searchPath}
}

// WithText returns the record with another text of ralph.json, trusted on what the record has.
func (t Trust) WithText(text []byte) Trust {
	t.SHA256 = digest(text)
	t.Text = string(text)
	return t
}

// SetList makes a list part of the contract.
func (t *Trust) SetList(text string) { t.ListSHA256, t.ListText = digest([]byte(text)), text }

// IsList reports whether a text is the list of the contract.
func (t *Trust) IsList(text []byte) bool { return digest(text) == t.ListSHA256 }

// ParseTrust reads trust.json. It refuses a record of another schema, and one whose
// SHA256 is not that of its Text.
func ParseTrust(data []byte) (Trust, error) {
	var t Trust
	if err := jsontext.Read(data, &t); err != nil {
		return Trust{}, err
	}
	switch {
	case t.Schema > 0 && t.Schema != trustSchema:
		return Trust{}, errors.New("another version of ralph-stop-hook wrote it")
	case t.Schema != trustSchema, t.SHA256 != digest([]byte(t.Text)):
		return Trust{}, errors.New("not a trust record")
	}
	return t, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Effective is the configuration that a loop runs under, and what a person has trusted.
type Effective struct {
	Config
	Changed   bool  // ralph.json differs from the trusted text, which is the one in force
	Broken    error // why ralph.json cannot be used as it is now; nil: it can, or it is the trusted one
	Missing   bool  // there was a ralph.json when a person trusted the loop, and there is none now
	Untrusted int   // how many commands do not run because no person has trusted them

	UntrustedOfList int // how many list checks do not, likewise

	Trust        // the record of what a person has trusted
	Trusted bool // there is such a record; without one, Trust is zero
}

// Choose returns the configuration in force: the trusted text if there is a record,
// else text, which is ralph.json, or nil if there is no such file. Without trust, or
// if the person took it back, no command of it runs.
func Choose(trust *Trust, text []byte) (in Effective, err error) {
	none := text == nil
	if none {
		text = []byte("{}")
	}
	if trust != nil {
		in.Trust = *trust
		in.Trusted = true
		differs := digest(text) != trust.SHA256
		in.Missing = differs && none
		in.Changed = differs && !none
		if in.Changed {
			_, in.Broken = Parse(text)
		}
		text = []byte(trust.Text)
	}
	in.Config, err = Parse(text)
	if in.Trusted && !in.Revoked {
		return in, err
	}

	// These start agents.
	in.Chains = nil
	in.Fallback = nil
	in.Escalate = nil
	in.Untrusted = len(in.Notifiers)
	in.Notifiers = nil
	for _, c := range []*Command{&in.Source.List, &in.Source.Reopen, &in.Source.Show} {
		in.distrust(c)
	}
	for i := range in.Checks {
		in.distrust(&in.Checks[i].Command)
	}
	for i := range in.Evaluators {
		in.distrust(&in.Evaluators[i].Command)
	}
	for i := range in.Prepare {
		in.distrust(&in.Prepare[i].Command)
	}
	for i := range in.Agents {
		in.Agents[i].Untrusted = true
		in.Untrusted++
	}
	return in, err
}

// distrust marks a command as untrusted if it is set. The command of a check stays too,
// so the check fails: without it, a claim would count as proven.
func (in *Effective) distrust(c *Command) {
	if c.Runs() {
		c.Untrusted = true
		in.Untrusted++
	}
}
