package page

import (
	"crypto/rand"
	"net/url"
	"os"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// tokenFile is the name of the file with the token in the state folder.
const tokenFile = "serve-token"

// Token returns the token of the user whose state folder it gets. It is the same each time, so that a tab that stays
// open and the configuration of a program work on. fresh makes another one.
func Token(stateDir string, fresh bool) (string, error) {
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
