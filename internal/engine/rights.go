package engine

import (
	"fmt"
	"strings"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// users are who may enter the embedded server: the run, whose server it is, and the workers who have a key.
func (a about) users() []*natsserver.NkeyUser {
	all := []*natsserver.NkeyUser{{Nkey: a.Public}}
	for _, w := range a.Workers {
		if w.Key != "" {
			all = append(all, &natsserver.NkeyUser{Nkey: w.Key, Permissions: names(a.Name).rights(w.Name)})
		}
	}
	return all
}

// Authorization returns what a person puts into the configuration of the server that they run, so that it lets in the
// runs of the loop and its workers, and nobody else. No key has rights on what is another loop's. It is empty if the
// server is a part of the loop's runs.
func Authorization(dir string) (string, error) {
	a, err := read(dir)
	if err != nil || !a.Own {
		return "", err
	}
	var b strings.Builder
	b.WriteString("authorization {\n  users = [\n")
	quoted := func(subjects []string) string { return `"` + strings.Join(subjects, "\"\n          \"") + `"` }
	user := func(key, who string, p *natsserver.Permissions) {
		fmt.Fprintf(&b, "    {\n      nkey: %s # %s\n      permissions {\n        publish = [\n          %s\n        ]\n"+
			"        subscribe = [%s]\n      }\n    }\n", key, who, quoted(p.Publish.Allow), quoted(p.Subscribe.Allow))
	}
	l := names(a.Name)
	user(a.Public, "the runs of "+a.Name, l.runRights(a.Workers))
	for _, w := range a.Workers {
		if w.Key != "" {
			user(w.Key, "the worker "+w.Name, l.rights(w.Name))
		}
	}
	b.WriteString("  ]\n}\n")
	return b.String(), nil
}

const api = "$JS.API."

// rights are what a worker may do: take hints, read orders and bases, and write what it says into a stream of its own.
func (l names) rights(worker string) *natsserver.Permissions {
	return allow([]string{l.inbox(worker) + ".>"},
		api+"CONSUMER.INFO."+l.queue()+"."+consumer,
		api+"CONSUMER.MSG.NEXT."+l.queue()+"."+consumer,
		"$JS.ACK."+l.queue()+"."+consumer+".>",
		api+"DIRECT.GET."+l.stream()+"."+l.subject("o.")+"*",
		api+"DIRECT.GET."+l.stream()+"."+l.subject("base.")+">",
		l.subject("from.")+worker+".>",
		l.bell(worker))
}

// runRights are what a run may do: all with what is the loop's.
func (l names) runRights(workers []worker) *natsserver.Permissions {
	may := []string{
		l.subject("o.*"), l.subject("lead"), l.subject("base.>"), l.subject("w.>"), api + "INFO",
		api + "CONSUMER.CREATE." + l.queue() + "." + consumer,
		api + "CONSUMER.DURABLE.CREATE." + l.queue() + "." + consumer,
	}
	for _, name := range l.streams(workers) {
		for _, verb := range []string{"CREATE", "UPDATE", "INFO", "PURGE", "DELETE"} {
			may = append(may, api+"STREAM."+verb+"."+name)
		}
		may = append(may, api+"DIRECT.GET."+name, api+"DIRECT.GET."+name+".>")
	}
	return allow([]string{l.inbox(">"), l.bell("*")}, may...)
}

func allow(hear []string, say ...string) *natsserver.Permissions {
	return &natsserver.Permissions{
		Publish:   &natsserver.SubjectPermission{Allow: say},
		Subscribe: &natsserver.SubjectPermission{Allow: hear},
	}
}
