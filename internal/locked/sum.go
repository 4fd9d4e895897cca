package locked

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// A key names what is locked. It is a path below the project, separated by slashes, of a file, or of a part of one:
// the scripts of a package.json, or the sections of a configuration file that a program reads.
const (
	scripts  = " scripts"
	sections = " sections for pytest"
)

// maxSection is the largest file of which sections are held, in bytes.
const maxSection = 4 << 20

// unreadable is the hash of a file that cannot be read: no trusted file has it.
const unreadable = "unreadable"

// At returns the path of a slash-separated path below the project. It does not clean it, because
// a/../b depends on whether a is a link.
func At(project, key string) string {
	return strings.TrimSuffix(project, string(filepath.Separator)) + string(filepath.Separator) +
		filepath.FromSlash(key)
}

// File returns the path of the file that a key is about.
func File(key string) string {
	if file, is := ofScripts(key); is {
		return file
	}
	return strings.TrimSuffix(key, sections)
}

// ofScripts reports whether a key is that of scripts, and of which file.
func ofScripts(key string) (file string, is bool) {
	file, is = strings.CutSuffix(key, scripts)
	return file, is && path.Base(file) == config.PackageJSON
}

// Sum returns the current hash of what a key names: "" if it is missing.
func Sum(project, key string) string {
	sum, err := sumOf(project, key)
	if err != nil && !loopdir.Absent(err) {
		return unreadable
	}
	return sum
}

func sumOf(project, key string) (string, error) {
	if file, is := ofScripts(key); is {
		return sumScripts(project, file)
	}
	if file, is := strings.CutSuffix(key, sections); is {
		text, err := loopdir.ReadAny(At(project, file), maxSection)
		if part := config.Section(string(text)); err == nil && part != "" {
			return Digest([]byte(part)), nil
		}
		return "", err
	}
	return sumFile(At(project, key))
}

// execMark begins the hash of a file that its owner may run. A hash without it is of
// a file that its owner could not run: nobody is hurt if it can be run later.
const execMark = "x "

func sumFile(path string) (string, error) {
	sum, info, err := HashFile(path)
	if err == nil && info.Mode()&0o100 != 0 {
		sum = execMark + sum
	}
	return sum, err
}

// Same reports whether two hashes of one key mean that nothing has changed.
func Same(key, was, now string) bool {
	if _, is := ofScripts(key); is {
		was, now = present(was), present(now)
	}
	return was == now || was == strings.Replace(now, execMark, "", 1)
}

// TextSum returns the hash of the text of a file that has this hash, or that a link leads to.
func TextSum(sum string) string { return sum[strings.LastIndexByte(sum, ' ')+1:] }

// Digest returns the sha256 of a file's content, in hex.
func Digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// maxHashed is the largest file that is hashed, in bytes.
const maxHashed = 4 << 30

// HashFile returns the sha256 of the regular file at a path, in hex. It follows links, as a
// command does.
func HashFile(path string) (sum string, info fs.FileInfo, err error) {
	f, info, err := loopdir.OpenAny(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	if info.Size() > maxHashed {
		return "", info, fmt.Errorf("it is larger than %d GB", maxHashed>>30)
	}
	writeBack(f)
	h := sha256.New()
	_, err = io.Copy(h, io.LimitReader(f, maxHashed))
	return hex.EncodeToString(h.Sum(nil)), info, err
}

// sumScripts returns the name and the hash of each script of a package.json, a line for each.
func sumScripts(project, file string) (string, error) {
	text, err := loopdir.ReadAny(At(project, file), maxSection)
	if err != nil {
		return "", err
	}
	return TextScripts(text)
}

// TextScripts returns the name and the hash of each script in the text of a package.json, a line for each.
func TextScripts(text []byte) (string, error) {
	text, err := jsontext.Check(text)
	if err != nil {
		return "", err
	}
	// Of two equal keys npm takes the last, and others may take the first.
	if key := jsontext.Twice(jsontext.String(text)); key != "" {
		return "", fmt.Errorf("it has the key %q twice; leave one of them", plain.Line(key, 80))
	}
	lines := []string{}
	for name, script := range gjson.GetBytes(text, "scripts").ForEach {
		lines = append(lines, scriptName(name.Str)+" "+Digest([]byte(script.Str))[:32])
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// maxScriptName is the longest name of a script that a command may call, in bytes.
const maxScriptName = 80

// scriptName returns the name of a script as a line of sumScripts has it.
func scriptName(name string) string {
	quoted := strconv.QuoteToASCII(name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], " ", `\x20`)
}

// withMissing adds the name of a script to the lines of sumScripts, if there is no such script.
func withMissing(sum, name string) string {
	name = scriptName(name)
	if has(sum, name) {
		return sum
	}
	return strings.TrimPrefix(sum+"\n"+name, "\n")
}

// present returns the lines of sumScripts without those of withMissing.
func present(sum string) string {
	noHash := func(line string) bool { return !strings.Contains(line, " ") }
	return strings.Join(slices.DeleteFunc(strings.Split(sum, "\n"), noHash), "\n")
}

// has reports whether the lines of sumScripts have a name.
func has(sum, name string) bool {
	return strings.Contains("\n"+sum+"\n", "\n"+name+" ") || strings.Contains("\n"+sum+"\n", "\n"+name+"\n")
}

// installs are the scripts that run when packages are installed, unasked.
var installs = strings.Fields("preinstall install postinstall preprepare prepare postprepare prepublish dependencies")

// SameScripts reports whether all scripts are as they were, and none was added that runs beside them.
func SameScripts(was, now string) bool {
	for line := range strings.SplitSeq(was, "\n") {
		_, hash, _ := strings.Cut(line, " ")
		if hash != "" && !strings.Contains("\n"+now+"\n", "\n"+line+"\n") {
			return false
		}
	}
	for line := range strings.SplitSeq(now, "\n") {
		name, hash, _ := strings.Cut(line, " ")
		if hash == "" || strings.Contains("\n"+was, "\n"+name+" ") {
			continue
		}
		beside := has(was, strings.TrimPrefix(name, "pre")) || has(was, strings.TrimPrefix(name, "post"))
		if beside || slices.Contains(installs, name) {
			return false
		}
	}
	return true
}

// Below returns the path of a word of a command from the project's root, separated by
// slashes; "" if the word cannot be a path there.
func Below(project, home, word string) string {
	if rest, is := strings.CutPrefix(word, "~/"); is && home != "" {
		word = filepath.ToSlash(home) + "/" + rest
	}
	local := filepath.FromSlash(word)
	if filepath.IsAbs(local) {
		prefix := strings.TrimSuffix(project, string(filepath.Separator)) + string(filepath.Separator)
		rest, is := strings.CutPrefix(local, prefix)
		if !is { // perhaps by a link to the project
			dir, err := filepath.EvalSymlinks(filepath.Dir(local))
			rest, is = strings.CutPrefix(dir+string(filepath.Separator), prefix)
			if err != nil || !is {
				return ""
			}
			rest += filepath.Base(local)
		}
		local = rest
	} else if !filepath.IsLocal(local) { // ../project/v.sh
		rel, err := filepath.Rel(project, filepath.Join(project, local))
		if err != nil {
			return ""
		}
		local = rel
	}
	if !filepath.IsLocal(local) || strings.ContainsRune(local, 0) {
		return ""
	}
	return filepath.ToSlash(local)
}
