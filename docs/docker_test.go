package docs

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// dockerfile is of the example.
const dockerfile = "../examples/docker/Dockerfile"

// standInDocker is a container that is this machine. It checks that the folders are there that the container gets:
// Docker would make them, as root. It builds nothing; TestDockerfile and TestImage do.
const standInDocker = `#!/bin/sh
set -eu
case $1 in
build) for last; do :; done; test -f Dockerfile && test "$last" = ../.. ; exit ;;
run) shift ;;
*) exit 1 ;;
esac
while :; do
	case $1 in
	-v) test -d "${2%%:*}"; test "${2%%:*}" = "${2#*:}"; shift ;;
	-w) cd "$2"; shift ;;
	-e) case $2 in *=*) export "${2?}" ;; esac; shift ;;
	--cap-drop | --security-opt | --pids-limit) shift ;;
	--rm | --init) ;;
	*) break ;;
	esac
	shift
done
test "$1" = ralph
shift
exec ralph-runner "$@"
`

// instruction is a line of a Dockerfile, with the lines that continue it.
type instruction struct{ name, rest string }

func instructions(t *testing.T) (list []instruction) {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	joined := regexp.MustCompile(`(?m)^#.*\n|\\\n\s*`).ReplaceAllString(string(text), "")
	for line := range strings.Lines(joined) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		if !slices.Contains(strings.Fields("FROM WORKDIR COPY RUN ARG USER ENTRYPOINT"), name) || rest == "" {
			t.Errorf("%q is no instruction that this test knows", line)
		}
		list = append(list, instruction{name, rest})
	}
	return list
}

// TestDockerfile does what the Dockerfile says of the build, with what it copies and nothing else. It ends as a user
// who is not root, and starts a program that was built.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its commands are for a POSIX shell")
	}
	src, out := t.TempDir(), t.TempDir()
	user, program, builds := "root", "", 0
	for _, i := range instructions(t) {
		words := strings.Fields(i.rest)
		switch {
		case i.name == "FROM":
			user = "root"
			goMod, err := os.ReadFile("../go.mod")
			if version, is := strings.CutPrefix(words[0], "golang:"); err != nil ||
				is && !strings.Contains(string(goMod), "\ngo "+version+".") {
				t.Errorf("FROM %s, but go.mod needs another Go: %v", words[0], err)
			}
		case i.name == "COPY" && words[0] == "--from=build":
			if words[1] != "/out/" {
				t.Errorf("COPY %s, but the build writes to /out/", i.rest)
			}
		case i.name == "COPY":
			to := words[len(words)-1]
			for _, name := range words[:len(words)-1] {
				if err := copyInto(filepath.Join("..", name), filepath.Join(src, to)); err != nil {
					t.Errorf("COPY %s: %v", i.rest, err)
				}
			}
		case i.name == "RUN" && strings.Contains(i.rest, "go build"):
			cmd := exec.Command("sh", "-c", strings.Replace(i.rest, "/out/", out, 1))
			cmd.Dir = src
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("RUN %s: %v\n%s", i.rest, err, text)
			}
			builds++
		case i.name == "USER":
			user = i.rest
		case i.name == "ENTRYPOINT":
			var line []string
			if err := json.Unmarshal([]byte(i.rest), &line); err != nil || len(line) == 0 {
				t.Fatalf("ENTRYPOINT %s: %v", i.rest, err)
			}
			program = line[0]
		}
	}
	if user == "root" || strings.HasPrefix(user, "0") || builds != 1 {
		t.Errorf("it runs as %s, and has %d builds", user, builds)
	}
	if _, err := os.Stat(filepath.Join(out, program)); program == "" || err != nil {
		t.Errorf("it starts %q, which was not built: %v", program, err)
	}
}

// copyInto copies a file into a folder, or what is in a folder.
func copyInto(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(filepath.Join(to, filepath.Base(from)), text, 0o600))
}

// TestImage builds the image and works a loop in it, where there is Docker. The agent is a program that does nothing.
func TestImage(t *testing.T) {
	system, err := exec.Command("docker", "info", "--format", "{{.OSType}}").Output()
	if err != nil || strings.TrimSpace(string(system)) != "linux" || os.Getuid() == 0 || testing.Short() {
		t.Skipf("it takes Docker with containers of Linux, a user who is not root, and some minutes: %v", err)
	}
	image := exec.Command("docker", "build", "-t", "ralph", "--build-arg", "UID="+strconv.Itoa(os.Getuid()), "-f",
		"Dockerfile", "../..")
	image.Dir = filepath.Dir(dockerfile)
	if text, err := image.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	project, state := t.TempDir(), t.TempDir()
	script, err := filepath.Abs("../examples/docker/night.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := copyInto("../examples/docker/feature_list.json", project); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", script, "feature_list.json", "--agent", "true", "--max-iterations", "1")
	run.Dir, run.Env = project, append(os.Environ(), "RALPH_STATE_DIR="+state)
	if text, _ := run.CombinedOutput(); !strings.Contains(string(text), "REACHED_LIMIT") {
		t.Fatalf("the run in a container:\n%s", text)
	}
	status := exec.Command(filepath.Join(build(t), "ralph-stop-hook"), "status")
	status.Dir, status.Env = project, run.Env
	if text, err := status.CombinedOutput(); err != nil || !strings.Contains(string(text), "REACHED_LIMIT") {
		t.Errorf("the record outside of the container: %v\n%s", err, text)
	}
}
