package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain plays the confined process: its arguments are "confined", a folder, and a line
// for the shell.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "confined" {
		err := Exec([]string{os.Args[2]}, "/bin/sh", []string{"sh", "-c", os.Args[3]}, os.Environ())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(m.Run())
}

// TestExec tries what a confined program must and must not do.
func TestExec(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inner, other := filepath.Join(outer, "inner"), filepath.Join(outer, "other")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{
		"echo x > a && mkdir d && mv a d/b && ln d/b c && mkfifo f && rm -r d": true,
		": > /dev/null && echo x > /dev/stderr && cat ../other":                true,
		"test -w . && exit 0; exit 1":                                          true,
		"sleep 9 & kill $!":                                                    true,
		"echo x > ../other":                                                    false,
		": > ../other":                                                         false,
		"truncate -s 0 ../other":                                               false,
		"echo x >> ../new":                                                     false,
		"rm -f ../other":                                                       false,
		"mkdir ../d2":                                                          false,
		"echo x > e && mv e ../e":                                              false,
		"ln ../other o":                                                        false,
		"mv ../other o":                                                        false,
		"ln -s ../other l && echo x > l":                                       false,
		"echo x > /dev/tty":                                                    false,
		"mknod n c 1 3":                                                        false,
		"mount -t tmpfs none .":                                                false,
		"unshare -Urm true":                                                    false,
		"kill -0 $PPID":                                                        false,
		"echo x > /proc/$PPID/mem":                                             false,
		"readlink /proc/$PPID/fd/1":                                            false,
		"echo x > /proc/$PPID/cwd/../other":                                    false,
		"echo 0 > /proc/self/oom_score_adj":                                    false,
	} {
		cmd := exec.Command(os.Args[0], "confined", inner, line)
		cmd.Dir = inner
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%s: %v, want success: %v\n%s", line, err, want, out)
		}
		if text, err := os.ReadFile(other); err != nil || string(text) != "kept" {
			t.Fatalf("%s: the file outside is %q, %v", line, text, err)
		}
	}
}

// TestExecSockets holds Unix sockets closed, by which a service of the user's would run
// what a confined program asks for.
func TestExecSockets(t *testing.T) {
	python, err := exec.LookPath("python3")
	if Available() != nil || err != nil {
		t.Skip("needs Landlock and python3")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connect := fmt.Sprintf("import socket; socket.socket(socket.AF_UNIX).connect('%s')", listener.Addr())
	if err := exec.Command(python, "-c", connect).Run(); err != nil {
		t.Fatal("control:", err)
	}
	for code, want := range map[string]bool{
		connect: false,
		"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')":                           false,
		"import socket; socket.socketpair(); socket.socket(socket.AF_INET)":                      true,
		"import ctypes; exit(0 if ctypes.CDLL(None).syscall(425, 1, 0) == -1 else 1)":            true, // io_uring_setup
		"import ctypes; exit(0 if ctypes.CDLL(None).syscall(0x40000000+41, 1, 1, 0) < 0 else 1)": true, // x32's socket
	} {
		out, err := exec.Command(os.Args[0], "confined", dir, python+" -c \""+code+"\"").CombinedOutput()
		if (err == nil) != want || !want && !strings.Contains(string(out), "Permission denied") {
			t.Errorf("%s: %v, want success: %v\n%s", code, err, want, out)
		}
	}
}

// TestExecLink refuses a folder that has become a link.
func TestExecLink(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(os.Args[0], "confined", link, "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too many levels") {
		t.Errorf("%v: %s", err, out)
	}
}
