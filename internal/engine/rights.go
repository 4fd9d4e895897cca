package engine

import (
	natsserver "github.com/nats-io/nats-server/v2/server"
)

// readKeys puts the keys of the file into the options. The caller holds s.mu.
func (s *server) readKeys() error {
	text := keysText(s.home.dir)
	var keys []workerKey
	if err := load(s.home.dir, keysFile, &keys); err != nil {
		return err
	}
	s.keys = text
	s.opts.Nkeys = []*natsserver.NkeyUser{{Nkey: s.admin}}
	for _, k := range keys {
		if validName(k.Name) {
			s.opts.Nkeys = append(s.opts.Nkeys, &natsserver.NkeyUser{Nkey: k.Key, Permissions: s.names.rights(k.Name)})
		}
	}
	return nil
}

// reload takes the keys of the file if it has changed. A worker whose key is gone is disconnected at once.
func (s *server) reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if keysText(s.home.dir) == s.keys || !s.now.Running() {
		return nil
	}
	if err := s.readKeys(); err != nil {
		return err
	}
	err := s.now.ReloadOptions(s.opts.Clone())
	if err != nil {
		s.keys = "" // so the next round tries again
	}
	return err
}

// rights are what a worker may do: take hints, read and write claims, read bases, and store its own work. It can write
// a wrong claim on any feature. The checks of the merger are the guard against that.
func (l names) rights(worker string) *natsserver.Permissions {
	api := "$JS.API."
	return &natsserver.Permissions{
		Publish: &natsserver.SubjectPermission{Allow: []string{
			api + "STREAM.INFO." + l.records(),
			api + "CONSUMER.INFO." + l.queue() + "." + consumer,
			api + "CONSUMER.MSG.NEXT." + l.queue() + "." + consumer,
			"$JS.ACK." + l.queue() + "." + consumer + ".>",
			api + "DIRECT.GET." + l.records() + ".$KV." + l.bucket() + ".c.>",
			api + "DIRECT.GET." + l.bases() + "." + l.subject("base") + ">",
			"$KV." + l.bucket() + ".c.>",
			l.subject("done") + worker + ".>",
		}},
		Subscribe: &natsserver.SubjectPermission{Allow: []string{inbox(worker) + ".>"}},
	}
}
