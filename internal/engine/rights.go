package engine

import (
	"encoding/base64"
	"errors"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Check lets in the coordinator, and each worker whose key is in the file of keys at that moment. So a worker may come
// as soon as its key is written, also while a server starts.
func (s *server) Check(c natsserver.ClientAuthentication) bool {
	key := c.GetOpts().Nkey
	workers, err := s.workers()
	worker, isWorker := workers[key]
	if err != nil || !isWorker && key != s.admin || !isSigned(c) {
		return false
	}
	user := &natsserver.User{}
	if isWorker {
		user.Permissions = s.names.rights(worker)
	}
	c.RegisterUser(user)
	return true
}

// isSigned tells whether who connects has the seed of the key.
func isSigned(c natsserver.ClientAuthentication) bool {
	public, err := nkeys.FromPublicKey(c.GetOpts().Nkey)
	if err != nil {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(c.GetOpts().Sig)
	return err == nil && public.Verify(c.GetNonce(), signature) == nil
}

// workers returns the names of the workers by their keys.
func (s *server) workers() (map[string]string, error) {
	var keys []workerKey
	if err := load(s.home.dir, keysFile, &keys); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, k := range keys {
		if validName(k.Name) {
			names[k.Key] = k.Name
		}
	}
	return names, nil
}

// lockOut disconnects the workers whose keys are gone.
func (s *server) lockOut() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.now.Running() {
		return nil
	}
	workers, err := s.workers()
	if err != nil {
		return err
	}
	inside, err := s.now.Connz(&natsserver.ConnzOptions{Username: true, Limit: maxConns})
	if err != nil {
		return err
	}
	for _, conn := range inside.Conns {
		key := conn.AuthorizedUser
		if _, isWorker := workers[key]; !isWorker && key != s.admin && nkeys.IsValidPublicUserKey(key) {
			err = errors.Join(err, s.now.DisconnectClientByID(conn.Cid))
		}
	}
	return err
}

// maxConns is the most connections that lockOut looks at: all that a server takes.
const maxConns = natsserver.DEFAULT_MAX_CONNECTIONS

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
