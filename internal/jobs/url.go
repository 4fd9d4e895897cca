package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// CheckURL refuses addresses of servers, with commas between them, to which nobody can connect. It also refuses a
// password in them: an address is printed, and is in the credentials of all workers.
func CheckURL(addresses string) error {
	for one := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(one)
		switch {
		case strings.Contains(one, "@"):
			return errors.New("the engine's address has a password, which others would see; leave it out")
		case err != nil || u.Hostname() == "" || !validPort(u.Port()) || strings.Trim(u.Path, "/") != "" ||
			!slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme):
			return fmt.Errorf("%q is no address of an engine; want one such as nats://127.0.0.1:4222 or "+
				"tls://a.example.com:4222", plain.Line(one, 100))
		}
	}
	return nil
}

// validPort reports whether a server can have the port. Without one it has the usual one.
func validPort(port string) bool {
	n, err := strconv.ParseUint(cmp.Or(port, "4222"), 10, 16)
	return err == nil && n > 0
}

// HostPort splits what --listen says, HOST:PORT; "" is loopback, at a free port.
func HostPort(listen string) (host string, port int, err error) {
	host, word, err := net.SplitHostPort(cmp.Or(listen, "127.0.0.1:0"))
	number, wrong := strconv.ParseUint(word, 10, 16)
	if err != nil || wrong != nil {
		return "", 0, fmt.Errorf("--listen takes HOST:PORT, and %q is none", plain.Line(listen, 100))
	}
	return host, int(number), nil
}
