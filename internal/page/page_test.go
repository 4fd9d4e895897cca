package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// hostile is a text that wants to be code in every place.
const hostile = `</title><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "\x1b[31m\u202e"

// site is a page over one loop.
type site struct {
	testing.TB
	*Server
	handler http.Handler
	folder  string // the loop's
	host    string
}

func newSite(t testing.TB, control bool) site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, loopdir.Below, "demo")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	title, _ := json.Marshal(hostile)
	list := `[{"id": "a", "title": ` + string(title) + `, "passes": false}, {"id": "b", "passes": true}]`
	if err := os.WriteFile(filepath.Join(folder, loopdir.ListFile), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	env := loop.Env{
		Catch:   context.WithCancel,
		Program: "ralph-runner", Cwd: dir, StateDir: filepath.Join(dir, "state"),
		Clients: func(string) (ask, resume []string) { return []string{"client"}, []string{"client", "--resume"} },
	}
	w, err := watch.New(env)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Env: env, Watcher: w, Token: "the-token", Control: control}
	h, err := s.Handler(8080)
	if err != nil {
		t.Fatal(err)
	}
	return site{t, s, h, folder, "127.0.0.1:8080"}
}

// request makes a request of a browser that has the address.
func (s site) request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "http://"+s.host+s.root()+path, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+s.host)
	}
	return r
}

func (s site) answer(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s site) get(path string) *httptest.ResponseRecorder {
	return s.answer(s.request(http.MethodGet, path, ""))
}

func (s site) key() string { return s.Watcher.Picture().Loops[0].Key }

// TestEnter lets nobody in without the token, and no page of another origin with it.
func TestEnter(t *testing.T) {
	s := newSite(t, true)
	key := s.key()
	for what, tc := range map[string]struct {
		edit   func(r *http.Request)
		method string
		want   int
	}{
		"the address":               {func(*http.Request) {}, "GET", 200},
		"no token":                  {func(r *http.Request) { r.URL.Path = "/" }, "GET", 401},
		"an empty token":            {func(r *http.Request) { r.URL.Path = "//" }, "GET", 401},
		"a part of the token":       {func(r *http.Request) { r.URL.Path = "/the-toke/" }, "GET", 401},
		"the token alone":           {func(r *http.Request) { r.URL.Path = "/the-token" }, "GET", 401},
		"the token as a query":      {query, "GET", 401},
		"the token as a cookie":     {cookie, "GET", 401},
		"a program's token":         {bearer("the-token"), "GET", 200},
		"a program's wrong token":   {bearer("the-toke"), "GET", 401},
		"a program without a token": {bearer(""), "GET", 401},
		"localhost":                 {func(r *http.Request) { r.Host = "localhost:8080" }, "GET", 200},
		"another host":              {func(r *http.Request) { r.Host = "evil.example:8080" }, "GET", 421},
		"another port":              {func(r *http.Request) { r.Host = "127.0.0.1:80" }, "GET", 421},
		"no port":                   {func(r *http.Request) { r.Host = "127.0.0.1" }, "GET", 421},
		"another origin":            {origin("http://evil.example"), "GET", 403},
		"an origin that is hidden":  {origin("null"), "POST", 403},
		"another origin's form":     {origin("http://evil.example"), "POST", 403},
		"an origin of this machine": {origin("http://127.0.0.1:9"), "POST", 403},
		"https":                     {origin("https://127.0.0.1:8080"), "POST", 403},
		"a form without an origin":  {func(r *http.Request) { r.Header.Del("Origin") }, "POST", 403},
		"another site's picture":    {fetch("cross-site", "no-cors"), "GET", 403},
		"another site's link":       {fetch("cross-site", "navigate"), "GET", 200},
		"another method":            {func(*http.Request) {}, "DELETE", 405},
	} {
		path := "/"
		if tc.method == "POST" {
			path = "/loop/" + key + "/do/pause"
		}
		r := s.request(tc.method, path, "")
		tc.edit(r)
		if got := s.answer(r); got.Code != tc.want {
			t.Errorf("%s: %d %s, want %d", what, got.Code, got.Body, tc.want)
		} else if got.Header().Get("Access-Control-Allow-Origin") != "" ||
			got.Header().Get("Content-Security-Policy") != policy || got.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: the headers are %v", what, got.Header())
		}
	}
}

func query(r *http.Request) { *r.URL = url.URL{Path: "/", RawQuery: "token=the-token"} }

func cookie(r *http.Request) {
	r.URL.Path = "/"
	r.AddCookie(&http.Cookie{Name: "ralph-8080", Value: "the-token"})
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) {
		r.URL.Path = "/"
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

func origin(of string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Origin", of) }
}

func fetch(site, mode string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", site); r.Header.Set("Sec-Fetch-Mode", mode) }
}

// TestToken keeps a token over restarts, where only its user reads it, and makes another one if somebody asks for that
// or the file has none.
func TestToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	token := func(fresh bool) string {
		text, err := Token(dir, fresh)
		if err != nil || len(text) < 26 {
			t.Fatal(text, err)
		}
		return text
	}
	first := token(false)
	if token(false) != first {
		t.Error("the token has changed")
	}
	info, err := os.Stat(filepath.Join(dir, tokenFile))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(dir, tokenFile), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Token(dir, false)
		if err == nil {
			t.Error("a token that others could read is used")
		}
	}
	second := token(true)
	if second == first || token(false) != second {
		t.Error("the new token does not stay")
	}
	for _, text := range []string{"", "short", strings.Repeat("../", 20), strings.Repeat("x", 101)} {
		if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := token(false); got == text {
			t.Errorf("%q is taken for a token", text)
		}
	}
}

// code finds what could run or load something. Texts are escaped, so they have no "<" and no quote.
var code = regexp.MustCompile(`<script>|<img src=x|<[^>]*\son\w+=|style=`)

// found returns what of a page could run or load something, "" for nothing. Quotes in values of attributes are escaped.
func found(page string) string { return code.FindString(values.ReplaceAllString(page, `""`)) }

var values = regexp.MustCompile(`"[^"]*"`)

// TestPages shows every page. Hostile texts stay texts.
func TestPages(t *testing.T) {
	s := newSite(t, true)
	key := s.key()
	for path, want := range map[string]string{
		"/":                                   "demo",
		"/?q=nothing":                         "0 of 1",
		"/?q=DEM&status=NOT+STARTED":          "1 of 1",
		"/?q=" + url.QueryEscape(hostile):     "&lt;script&gt;",
		"/loop/" + key:                        "&lt;script&gt;alert(1)",
		"/loop/" + key + "/ask/pause":         "Pause demo after this turn?",
		"/loop/" + key + "?tab=iterations":    "aria-current",
		"/loop/" + key + "?tab=checks":        "aria-current",
		"/loop/" + key + "?page=99":           "<b>b</b>",
		"/loop/" + key + "?tab=diff":          "There is no commit.",
		"/loop/" + key + "?tab=cost":          "aria-current",
		"/loop/" + key + "?tab=log":           "aria-current",
		"/loop/" + key + "?tab=about":         "<dt>List</dt>",
		"/loop/" + key + "?state=claimed":     "<b>b</b>",
		"/loop/" + key + "/session/1":         "its client keeps the conversation",
		"/loop/" + key + "/session/x":         "there is no such session",
		"/icon/needs.svg":                     "<svg",
		"/icon/no.svg":                        "there is no such icon",
		"/loop/" + key + "/report":            "Proven means",
		"/style.css":                          "prefers-color-scheme: dark",
		"/page.js":                            "If-None-Match",
		"/metrics":                            `ralph_loop_features{loop="demo"`,
		"/api/loops":                          `"maxIterations": 15`,
		"/api/loops/" + key:                   `"items"`,
		"/loop/none":                          "there is no such loop",
		"/loop/" + key + "/chart/0":           "there is no such chart",
		"/loop/" + key + "/ask/trust":         "cannot be done",
		"/nothing":                            "there is no such page",
		"/loop/..%2f..%2fetc%2fpasswd":        "there is no such loop",
		"/api/loops/%3Cscript%3E":             "there is no such loop",
		"/loop/" + key + "/chart/99999999999": "there is no such chart",
	} {
		got := s.get(path)
		body := got.Body.String()
		if !strings.Contains(body, want) {
			t.Errorf("%s: %d without %q: %s", path, got.Code, want, body)
		}
		if strings.HasPrefix(got.Header().Get("Content-Type"), "text/html") && found(body) != "" {
			t.Errorf("%s has %q", path, found(body))
		}
		if strings.ContainsAny(body, "\x1b\u202e") {
			t.Errorf("%s has characters that a terminal or a reader obeys", path)
		}
	}
	if found(hostile) == "" {
		t.Error("control: the text is not hostile")
	}
}

// TestControl does what a person confirms, and nothing without --control.
func TestControl(t *testing.T) {
	s := newSite(t, true)
	key := s.key()
	pause := "/loop/" + key + "/do/pause"
	question := s.get("/loop/" + key + "/ask/pause").Body.String()
	if !strings.Contains(question, `<form method="post" action="`+s.root()+pause+`"`) {
		t.Fatalf("the question has no form: %s", question)
	}
	got := s.answer(s.request("POST", pause, ""))
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "demo: paused at iteration 1") {
		t.Errorf("pause: %d %s", got.Code, got.Body)
	}
	if p, _ := watch.Look(s.Env); p.Loops[0].Status.Status != decide.Paused {
		t.Errorf("the loop is %s", p.Loops[0].Status.Status)
	}
	if got := s.answer(s.request("POST", "/loop/"+key+"/do/trust", "")); got.Code != http.StatusConflict {
		t.Errorf("a verb that is no action: %d", got.Code)
	}
	s.Control = false
	for _, r := range []*http.Request{
		s.request("POST", "/loop/"+key+"/do/resume", ""), s.request("GET", "/loop/"+key+"/ask/resume", ""),
	} {
		if got := s.answer(r); got.Code != http.StatusForbidden {
			t.Errorf("%s without --control: %d", r.URL.Path, got.Code)
		}
	}
	without := s.get("/loop/" + key).Body.String()
	if strings.Contains(without, "/ask/") {
		t.Error("there are buttons without --control")
	}
	for _, want := range []string{"resume demo", "resume demo &#43;10", "cancel demo", "note demo &#39;TEXT&#39;"} {
		if !strings.Contains(without, "ralph-runner "+want+"</code>") {
			t.Errorf("there is no command %q to copy in %s", want, without)
		}
	}
}

// TestTag tells a browser that it has a page already, until the loop changes; and it sends less to one that unpacks.
func TestTag(t *testing.T) {
	s := newSite(t, false)
	path := "/loop/" + s.key()
	first := s.get(path)
	again := s.request(http.MethodGet, path, "")
	again.Header.Set("If-None-Match", first.Header().Get("ETag"))
	if got := s.answer(again); got.Code != http.StatusNotModified || got.Body.Len() > 0 {
		t.Errorf("the same page again: %d, %d bytes", got.Code, got.Body.Len())
	}
	packed := s.request(http.MethodGet, path, "")
	packed.Header.Set("Accept-Encoding", "gzip")
	got := s.answer(packed)
	z, err := gzip.NewReader(bytes.NewReader(got.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != first.Body.String() || got.Body.Len() > len(text)/2 {
		t.Errorf("packed, the page has %d bytes of %d, and differs: %v", got.Body.Len(), first.Body.Len(), err)
	}
	list := filepath.Join(s.folder, loopdir.ListFile)
	if err := os.WriteFile(list, []byte(`[{"id": "a", "passes": true}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := s.answer(again); got.Code != http.StatusOK {
		t.Errorf("another page: %d", got.Code)
	}
}

// FuzzPage asks for anything. No answer runs or loads something, and no request ends the server.
func FuzzPage(f *testing.F) {
	s := newSite(f, true)
	key := s.key()
	of := "/loop/" + key
	for _, seed := range []string{"/", "/?q=" + hostile, of, "/loop/x/ask/pause", "//x", of + "/chart/-1"} {
		f.Add("GET", seed, "", "")
	}
	f.Add("POST", "/loop/"+key+"/do/pause", "form=x", "http://127.0.0.1:8080")
	f.Fuzz(func(t *testing.T, method, path, body, origin string) {
		if method != "GET" && method != "POST" {
			return
		}
		u, err := url.Parse("http://127.0.0.1:8080" + path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		r := &http.Request{
			Method: method, URL: u, Host: "127.0.0.1:8080", Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		}
		if method == "GET" { // a form without the token changes nothing
			u.Path = s.root() + u.Path
		}
		if origin != "" {
			r.Header["Origin"] = []string{origin}
		}
		got := s.answer(r)
		if got.Code >= 500 {
			t.Errorf("%s %q: %d %s", method, path, got.Code, got.Body)
		}
		if to := got.Header().Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
			t.Errorf("%s %q leads to %q", method, path, to)
		}
		isPage := strings.HasPrefix(got.Header().Get("Content-Type"), "text/html") && got.Code != http.StatusMovedPermanently
		if text := got.Body.String(); isPage && found(text) != "" {
			t.Errorf("%s %q has %q", method, path, found(text))
		}
		if p, _ := watch.Look(s.Env); p.Loops[0].Status.Status != decide.InProgress {
			t.Errorf("%s %q %q: the loop is %s", method, path, body, p.Loops[0].Status.Status)
		}
	})
}

// TestRefusals looks at the pages for what there is no page for: a browser gets one that says what to do, a program a
// line.
func TestRefusals(t *testing.T) {
	of := siteOf(watchtest.New(t))
	for path, want := range map[string][]string{
		"/the-token/nothing":      {"404", "Not Found", "there is no such page", "go back to the list"},
		"/the-token/loop/nothing": {"404", "Not Found", "there is no such loop", "go back to the list"},
		"/":                       {"401", "Unauthorized", "ralph-runner serve", "open the address that it prints"},
	} {
		for _, accept := range []string{"text/html,*/*", "*/*"} {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			of.handler.ServeHTTP(w, r)
			body := html.UnescapeString(w.Body.String())
			isPage := strings.HasPrefix(body, "<!DOCTYPE html>")
			if fmt.Sprint(w.Code) != want[0] || isPage != strings.HasPrefix(accept, "text") || !strings.Contains(body, want[1]) {
				t.Errorf("%s for %s is a %d: %s", path, accept, w.Code, body)
			}
			for _, text := range want[2:] {
				if isPage && !strings.Contains(body, text) {
					t.Errorf("%s: there is no %q in %s", path, text, body)
				}
			}
			if strings.Contains(body, "the-token") {
				t.Errorf("%s tells the token: %s", path, body)
			}
		}
	}
}
