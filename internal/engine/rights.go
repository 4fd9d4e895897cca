package engine

import (
	"fmt"
	"strings"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Authorization returns what a person puts into the configuration of the server that they run, so that it lets in the
// runs of the loop and its workers, and nobody else. No key has rights on what is another loop's. It is empty if the
// server is a part of the loop's runs.
func Authorization(dir string) (string, error) {
	a, err := read(dir)
	if err != nil || !a.Own {
		return "", err
	}
	return a.accounts()
}

const api = "$JS.API."

// What one worker may have of the server's memory, beside maxUnread for each connection.
const (
	maxConnections   = 4
	maxSubscriptions = 100
)

// accounts are who may enter the server: the runs of the loop, whose account has all that is the loop's, and the
// workers who have a key. Each of these has an account of its own. Whatever it says there goes to nobody but by an
// import, and so do the answers: a reply subject that it invents is one of its own account.
// The server forgets after threshold where an answer goes that does not come.
func (a about) accounts() (string, error) {
	pair, err := nkeys.FromSeed([]byte(a.Seed))
	if err != nil {
		return "", fmt.Errorf("the key of the loop's runs: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	l := names(a.Name)
	var others strings.Builder
	var exports strings.Builder
	for _, w := range a.Workers {
		if w.Key == "" {
			continue
		}
		var imports strings.Builder
		may := l.rights(w.Name)
		for _, subject := range may {
			fmt.Fprintf(&imports, "      {service: {account: %q, subject: %q}}\n", l.stream(), subject)
			fmt.Fprintf(&exports, "      {service: %q, accounts: [%q], threshold: %q}\n", subject, l.from(w.Name),
				answerTime+takeTime)
		}
		fmt.Fprintf(&others, "  %q { # the worker %s\n    imports = [\n%s    ]\n", l.from(w.Name), w.Name, imports.String())
		fmt.Fprintf(&others, "    limits { max_connections: %d, max_subscriptions: %d }\n", maxConnections,
			maxSubscriptions)
		fmt.Fprintf(&others, "    users = [{\n      nkey: %s\n      permissions {\n        publish = [\"%s\"]\n"+
			"        subscribe = [%q]\n      }\n    }]\n  }\n", w.Key, strings.Join(may, "\"\n          \""),
			l.inbox(w.Name)+".>")
	}
	return fmt.Sprintf("accounts {\n  %q { # the runs of %s\n    jetstream: enabled\n    users = [{nkey: %s}]\n"+
		"    exports = [\n%s    ]\n  }\n%s}\n", l.stream(), l, public, exports.String(), others.String()), nil
}

// rights are the subjects on which a worker may write: it asks, reads orders and bases, and says what it does.
func (l names) rights(worker string) []string {
	return []string{
		api + "DIRECT.GET." + l.stream() + "." + l.subject("o.") + "*",
		api + "DIRECT.GET." + l.stream() + "." + l.subject("base.") + ">",
		l.subject("from.") + worker + ".>",
		l.ask(worker),
		l.bell(worker),
	}
}

// admit puts into o who may enter.
func (a about) admit(o *natsserver.Options) error {
	var users natsserver.Options
	text, err := a.accounts()
	if err == nil {
		err = users.ProcessConfigString(text)
	}
	if err != nil {
		return fmt.Errorf("cannot make the engine's accounts: %w", err)
	}
	o.Accounts = users.Accounts
	o.Nkeys = users.Nkeys
	return nil
}
