package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
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

// guarded lets only requests through that come from a browser or a program to which a person gave the token, and from
// no other page.
func (s *Server) guarded(next http.Handler) http.Handler {
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
		case r.Method == http.MethodGet && r.URL.Query().Has("token"):
			s.enter(w, r)
		case !s.mayEnter(r):
			refuse(w, http.StatusUnauthorized, "open the address that 'ralph-runner serve' has printed")
		default:
			next.ServeHTTP(w, r)
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

// cookie is the name of the cookie. Cookies of one host are common to all ports, so it has the port.
func (s *Server) cookie() string { return "ralph-" + s.port }

// secret returns what is not the token and can only be made from it.
func (s *Server) secret(what string) string {
	mac := hmac.New(sha256.New, []byte(s.Token))
	mac.Write([]byte(what))
	return hex.EncodeToString(mac.Sum(nil))
}

// enter takes the token out of the address and gives the browser a cookie.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), s.Token) {
		refuse(w, http.StatusUnauthorized, "the address has another token than this server")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie(), Value: s.secret("cookie"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	query := r.URL.Query()
	query.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/\\"), RawQuery: query.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// mayEnter reports whether a request has the cookie or, as programs have it, the token.
func (s *Server) mayEnter(r *http.Request) bool {
	if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
		return same(bearer, s.Token)
	}
	cookie, err := r.Cookie(s.cookie())
	return err == nil && same(cookie.Value, s.secret("cookie"))
}

// same compares two secrets in a time that tells nothing.
func same(a, b string) bool { return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
