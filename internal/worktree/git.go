package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

const (
	gitTime  = 10 * time.Minute // a checkout of a large repository takes minutes
	refsTime = time.Minute
	maxRules = 1 << 20 // bytes of a file with ignore rules or attributes
	maxIndex = 1 << 30 // bytes of an index
	logged   = "ralph" // who moved a branch, says its log
)

// refs runs a git command that reads no file of a work tree in the repository, and returns its output without the line
// feed at its end. No hook runs: update-ref would call one. One that writes is refused where it would write elsewhere.
func (r *Repo) refs(ctx context.Context, args ...string) (string, error) {
	if args[0] == "update-ref" {
		if err := r.leadsNowhere(); err != nil {
			return "", err
		}
	}
	out, err := proc.GitOutput(ctx, r.command(args...), args[0])
	return strings.TrimSuffix(string(out), "\n"), err
}

func (r *Repo) command(args ...string) proc.Cmd {
	r.step(args[0])
	words := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	if r.git != "" {
		words = append(words, "--git-dir="+r.git)
	}
	c := proc.Git(r.env, r.top, append(words, args...)...)
	// The logs of branches get no text of the repository's configuration: an agent writes that, and may make a log
	// another name of some file.
	c.Env = append(c.Env, "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_COMMITTER_NAME="+logged, "GIT_COMMITTER_EMAIL="+logged+"@localhost")
	c.Timeout = refsTime
	return c
}

// privateGit is a work tree and an index that git sees through our own git folder, so that nothing of the repository's
// configuration counts there.
type privateGit struct {
	r           *Repo
	work, index string
	objects     string // the folder of its objects; "": that of Repo
	alternate   string // a folder whose objects can be read, too; "": none
}

// git runs a git command.
func (a privateGit) git(ctx context.Context, args ...string) ([]byte, error) {
	return a.feed(ctx, nil, args...)
}

// feed runs a git command with an input. If a person's gc has just removed the folder that git would write an object
// into, since it was empty, git creates it when it is asked again.
func (a privateGit) feed(ctx context.Context, in []byte, args ...string) (out []byte, err error) {
	for range 3 {
		c := a.command(args...)
		c.Stdin = in
		out, err = proc.GitOutput(ctx, c, args[0])
		if err == nil || !strings.Contains(err.Error(), "unable to write file") {
			break
		}
	}
	return out, err
}

func (a privateGit) command(args ...string) proc.Cmd {
	a.r.step(args[0])
	c := proc.Git(a.r.env, a.r.top, args...)
	if a.work != "" {
		c.Dir = a.work
	}
	c.Timeout = gitTime
	c.Env = append(c.Env, "GIT_DIR="+a.r.privateDir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_WORK_TREE="+c.Dir)
	if a.index != "" {
		c.Env = append(c.Env, "GIT_INDEX_FILE="+a.index)
	}
	c.Env = append(c.Env, "GIT_OBJECT_DIRECTORY="+cmp.Or(a.objects, a.r.objects))
	if a.alternate != "" {
		c.Env = append(c.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(a.alternate))
	}
	return c
}

// quotePath writes a path for a list of paths, as git reads it: a quoted one may have the list's separator in it.
func quotePath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// line runs a git command that prints one line.
func (a privateGit) line(ctx context.Context, args ...string) (string, error) {
	out, err := a.git(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// names runs a git command that prints names, each with a NUL behind it.
func (a privateGit) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := a.git(ctx, args...)
	return proc.GitTexts(out), err
}

// settings are those of the repository and the user that count for our git folder, too. None names a program.
const settings = `^(core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|excludesfile|attributesfile|` +
	`longpaths|checkstat|trustctime|compression|sharedrepository)|(user|author|committer)\.(name|email)|` +
	`merge\.(conflictstyle|renamelimit))$`

// rulesRegular refuses files with rules of the person's that git would wait for, such as pipes.
func (r *Repo) rulesRegular(ctx context.Context) error {
	home := cmp.Or(proc.Value(r.env, "XDG_CONFIG_HOME"), filepath.Join(proc.Value(r.env, "HOME"), ".config"))
	for key, usual := range map[string]string{"core.excludesFile": "ignore", "core.attributesFile": "attributes"} {
		path, _ := r.refs(ctx, "config", "--type=path", key)
		path = cmp.Or(path, filepath.Join(home, "git", usual))
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.top, path)
		}
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() && path != os.DevNull {
			return fmt.Errorf("%s is no file, and git would wait for it: name another %s, or remove that",
				plain.Line(path, 300), key)
		}
	}
	return nil
}

// prepare fills our git folder.
func (r *Repo) prepare(ctx context.Context, o Options) error {
	if o.Project == "" { // git only tells what the worker's user has set
		none := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": "[core]\n\trepositoryformatversion = 1\n"}
		if o.SHA256 {
			none["config"] += "[extensions]\n\tobjectFormat = sha256\n"
		}
		if err := writeGit(r.privateDir, none); err != nil {
			return err
		}
	}
	if err := r.rulesRegular(ctx); err != nil {
		return err
	}
	format, err := r.refs(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	// Git holds no file in memory that is larger than the threshold.
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tbigFileThreshold = 32m\n" +
		"\tlogAllRefUpdates = true\n[gc]\n\tauto = 0\n[extensions]\n\tobjectFormat = " + format + "\n"
	out, err := r.refs(ctx, "config", "-z", "--get-regexp", settings)
	if err != nil && proc.GitExit(err) != 1 { // 1: none of them is set
		return err
	}
	for _, setting := range strings.Split(out, "\x00") {
		if key, value, is := strings.Cut(setting, "\n"); is {
			section, name, _ := strings.Cut(key, ".")
			value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
			config += fmt.Sprintf("[%s]\n\t%s = \"%s\"\n", section, name, value)
		}
	}
	if out, _ := r.refs(ctx, "config", "--get-regexp", `^user\.name$`); out == "" {
		config += "[user]\n\tname = ralph-runner\n"
	}
	if out, _ := r.refs(ctx, "config", "--get-regexp", `^user\.email$`); out == "" {
		config += "[user]\n\temail = ralph-runner@localhost\n"
	}
	r.files = map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config}
	for _, name := range []string{"info/exclude", "info/attributes", "shallow"} {
		if text, err := loopdir.ReadFile(r.common, filepath.FromSlash(name), maxRules); err == nil {
			r.files[name] = string(text)
		}
	}
	if r.branch != "" && r.hasOwnObjects() {
		tags, _ := r.refs(ctx, "for-each-ref", "--merged="+heads+r.branch, "--format=%(objectname) %(refname)", "refs/tags")
		for tag := range strings.Lines(tags) { // none without a commit
			if !strings.Contains(tag, " refs/tags/"+backups) {
				r.tags = append(r.tags, strings.TrimSuffix(tag, "\n"))
			}
		}
	}
	return writeGit(r.privateDir, r.files)
}

// writeGit writes the files of a git folder.
func writeGit(dir string, files map[string]string) error {
	for _, name := range []string{"info", "refs/heads", "objects/info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// folded says that the system's folders usually do not tell two cases of a letter apart.
const folded = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// same compares two paths as the system's folders do.
func same(a, b string) bool { return a == b || folded && strings.EqualFold(a, b) }
