package jobs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// isLoopback reports whether only this machine can reach a host.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// certificate reads the embedded server's certificate and its key from a folder, or makes them. Workers know the
// certificate by its hash, so it has no name, and nobody signs it.
func certificate(dir string) (tls.Certificate, error) {
	const name = "cert.pem"
	file := filepath.Join(dir, name)
	is, err := tls.LoadX509KeyPair(file, file)
	if !errors.Is(err, fs.ErrNotExist) {
		return is, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return is, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "ralph-runner"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(100, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return is, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return is, err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	if err := replace(dir, name, text); err != nil {
		return is, err
	}
	return tls.LoadX509KeyPair(file, file)
}

// replace writes a file that only this user can read.
func replace(dir, name string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return loopdir.Replace(root, name, text, 0o600)
}

// pinOf returns the hash by which workers know a certificate.
func pinOf(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

var errStranger = errors.New("this is not the engine that made the credential: its certificate is another one")

// pinned accepts the one server whose certificate has the hash.
func pinned(want string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection looks at the certificate instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || pinOf(s.PeerCertificates[0].Raw) != want {
				return errStranger
			}
			return nil
		},
	}
}
