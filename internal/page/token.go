package page

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// tokenFile is the name of the file with the token in the state folder.
const tokenFile = "serve-token"

// Token returns the token of the user whose state folder it gets. It is the same each time, so that a tab that stays
// open and the configuration of a program work on. fresh makes another one.
func Token(stateDir string, fresh bool) (string, error) {
	path := filepath.Join(stateDir, tokenFile)
	info, err := os.Lstat(path)
	if err == nil && !fresh && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("others may have read the token in %s (mode %04o): make a new one with --new-token", path,
			info.Mode().Perm())
	}
	text, err := loopdir.ReadFile(stateDir, tokenFile, 100)
	token := strings.TrimSpace(string(text))
	if err == nil && !fresh && url.PathEscape(token) == token && len(token) >= len(rand.Text()) {
		return token, nil
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(stateDir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	token = rand.Text()
	return token, loopdir.Replace(root, tokenFile, []byte(token+"\n"), 0o600)
}
