package page

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// policy is the page's content security policy: nothing comes from elsewhere, and nothing is inline.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxBody is how many bytes of a request's body are read. A form of ours has a hundred.
const maxBody = 4 << 10

// guard lets only requests through that come from a browser or a program to which a person gave the token, and from
// no other page. The token is in the path. A cookie would go to every other port of this machine, too, and so to what
// an agent serves there.
func (s *Server) guard(next http.Handler) http.Handler {
	below := http.StripPrefix(s.root(), next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			h.Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		switch {
		case !s.isHost(r.Host): // another name for this address: DNS rebinding
			refuse(w, http.StatusMisdirectedRequest, "this page has another address")
		case !s.isOrigin(r):
			refuse(w, http.StatusForbidden, "another page may not ask this one")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			refuse(w, http.StatusMethodNotAllowed, "only GET and POST are known")
		case s.isOurs(r):
			below.ServeHTTP(w, r)
		case s.isProgram(r):
			next.ServeHTTP(w, r)
		default:
			refuse(w, http.StatusUnauthorized, "open the address that 'ralph-runner serve' has printed")
		}
	})
}

func refuse(w http.ResponseWriter, status int, why string) {
	http.Error(w, http.StatusText(status)+": "+why, status)
}

// isHost reports whether a request names this server. Its address is on loopback.
func (s *Server) isHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == s.port && (name == "127.0.0.1" || name == "localhost" || name == "::1")
}

// isOrigin reports whether a request comes from this page, or from no page. A request that changes something must say
// that it comes from here.
func (s *Server) isOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Scheme == "http" && u.Host == r.Host
	}
	if r.Method == http.MethodPost && site != "same-origin" {
		return false
	}
	navigates := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	return site == "" || site == "same-origin" || site == "none" || navigates
}

// root is how the paths of this page begin. Whoever knows it may enter.
func (s *Server) root() string { return "/" + s.Token }

// isProgram reports whether a request has the token as programs have it.
func (s *Server) isProgram(r *http.Request) bool {
	bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return is && same(bearer, s.Token)
}

// isOurs reports whether a request has the token in its path.
func (s *Server) isOurs(r *http.Request) bool {
	first, _, more := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return more && same(first, s.Token)
}

// same compares two secrets in a time that tells nothing.
func same(a, b string) bool { return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
