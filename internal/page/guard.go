package page

import (
	"cmp"
	"crypto/subtle"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
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
			refuse(w, r, http.StatusMisdirectedRequest, "this page has another address")
		case !s.isOrigin(r):
			refuse(w, r, http.StatusForbidden, "another page may not ask this one")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			refuse(w, r, http.StatusMethodNotAllowed, "only GET and POST are known")
		case s.isOurs(r):
			below.ServeHTTP(w, r)
		case s.isProgram(r):
			next.ServeHTTP(w, r)
		default:
			refuse(w, r, http.StatusUnauthorized, "open the address that 'ralph-runner serve' has printed")
		}
	})
}

// refusal is a page that says why there is no other, and what to do now. It has no link, since it is also for those who
// do not know the token.
var refusal = template.Must(template.New("refusal").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} · ralph</title><style>{{.Style}}</style></head>
<body><main class="panel paper"><h1>{{.Title}}</h1><p class="lead">{{.Why}}</p>
<p><strong>What to do now:</strong> {{.Do}}</p></main></body>
</html>
`))

// remedies says what a person does about a refusal. A program reads the status.
var remedies = map[int]string{
	http.StatusUnauthorized:        "type 'ralph-runner serve' and open the address that it prints",
	http.StatusMisdirectedRequest:  "open the address that 'ralph-runner serve' has printed",
	http.StatusForbidden:           "open the address that 'ralph-runner serve' has printed, or start it with --control",
	http.StatusNotFound:            "go back to the list of all loops, and load it again",
	http.StatusConflict:            "go back to the loop, and load its page again",
	http.StatusInternalServerError: "load the page again; if it stays so, type 'ralph-stop-hook doctor'",
}

// refuse says why there is no page: to a browser on one of our own, to a program in a line.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	title := http.StatusText(status)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, title+": "+why, status)
		return
	}
	w.Header().Set("Content-Security-Policy", drawn)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = refusal.Execute(w, map[string]any{
		"Title": title, "Why": why, "Style": template.CSS(report.Style()), "Do": cmp.Or(remedies[status], "go back"),
	})
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
