package docs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// TestOwnServer starts the server of fleet.md with the configuration that it shows, and what engine token prints. A run
// and a worker take a loop of three features to COMPLETE over it.
func TestOwnServer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere SSL_CERT_FILE is not read")
	}
	text, err := os.ReadFile("fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := blocks(string(text))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, b := range list {
		shown[b.path] = b.text
	}
	if shown["nats.conf"] == "" {
		t.Fatal("fleet.md shows no nats.conf")
	}
	r := newReader(t, "fleet.md", build(t))
	r.write("feature_list.json", `[
  {"id": "login", "title": "Log in with a password", "passes": false},
  {"id": "logout", "title": "Log out", "passes": false, "depends_on": ["login"]},
  {"id": "mail", "title": "Send a mail to new users", "passes": false}
]`)
	here := strings.NewReplacer(r.places(t)...)
	r.env = append(r.env, "SSL_CERT_FILE="+here.Replace("/etc/nats/ca.pem"))
	url := here.Replace("tls://10.0.0.1:4222")
	do := func(command string) string {
		t.Helper()
		out, err := r.sh(command)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	do("ralph-stop-hook init many --max-iterations 40; git init -q -b main; git add -A; git commit -qm Begin")
	token := do("ralph-runner engine token builder many --engine " + url)
	at := strings.Index(token, "\nauthorization {")
	if at < 0 {
		t.Fatalf("engine token prints no users:\n%s", token)
	}
	r.write("../nats/nats.conf", here.Replace(shown["nats.conf"]))
	r.write("../nats/users.conf", token[at:])
	start(t, filepath.Join(r.home, "nats", "nats.conf"))
	out := do(fmt.Sprintf(`
ralph-runner many --workers 3 --engine %s > ../run.log 2>&1 & run=$!
until ralph-runner engine status many 2> ../problem | grep -q features; do
	kill -0 $run || { cat ../run.log >&2; exit 1; }
	sleep 0.3
done
RALPH_ENGINE=%s ralph-runner worker --lanes 2 > ../worker.log 2>&1 & worker=$!
wait $run || cat ../worker.log
kill $worker && wait $worker || true
cat ../run.log`, url, regexp.MustCompile(`ralph1\.\S+`).FindString(token)))
	if !strings.Contains(out, "COMPLETE: many: 3 of 3 features") || strings.Count(out, " on builder ") != 3 {
		t.Errorf("the run says\n%s", out)
	}
}

// places returns what stands in the document, and what is here in its place: an address, and files with a certificate.
func (r *reader) places(t *testing.T) (pairs []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pairs = append(pairs, "10.0.0.1:4222", l.Addr().String())
	l.Close()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "ca.pem": {Type: "CERTIFICATE", Bytes: cert},
		"key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		r.write("../tls/"+name, string(pem.EncodeToMemory(b)))
		pairs = append(pairs, "/etc/nats/"+name, filepath.Join(r.home, "tls", name))
	}
	return pairs
}

// start starts a server in this process.
func start(t *testing.T, file string) {
	t.Helper()
	o, err := natsserver.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs, o.NoLog = true, true
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatalf("the server of %s does not start", file)
	}
}
