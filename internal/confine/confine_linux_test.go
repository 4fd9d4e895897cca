package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// confined returns a line for the shell that is confined to a folder.
func confined(folder, line string) *exec.Cmd {
	return exec.Command(os.Args[0], "confined", folder, line)
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
	if err := os.WriteFile(other, []byte("kept"), 0o644); err != nil {
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
		"> m; chmod 751 m && test $(stat -c %a m) = 751":                       true,
		"> n; ln -s n nl; chmod 700 nl && test $(stat -c %a n) = 700":                                true,
		"> p; cp -p p q; mkdir r; chmod 700 r $PWD/r ./r/../r; chown $(id -u) r; install -m 755 p s": true,
		"> t; tar c t | (cd r2 2>/dev/null || mkdir r2; cd r2; tar xp); chmod -R u+w r2":             true,
		"> u; (setsid sh -c 'sleep .1; chmod 711 u' &) ; sleep .5; test $(stat -c %a u) = 711":       true,
	} {
		cmd := confined(inner, line)
		cmd.Dir = inner
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%s: %v, want success: %v\n%s", line, err, want, out)
		}
		text, err := os.ReadFile(other)
		info, gone := os.Stat(other)
		if err != nil || gone != nil || string(text) != "kept" || info.Mode().Perm() != 0o644 {
			t.Fatalf("%s: the file outside is %q, %v, %v", line, text, err, info)
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
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// A pair of streams stays one.
	pair := "import socket; a, b = socket.socketpair(); a.settimeout(1); "
	syscall := "import ctypes; call = ctypes.CDLL(None).syscall; "
	at := listener.Addr().String()
	for code, want := range map[string]bool{
		connect:                                false,
		pair + "a.connect('" + at + "')":       false,
		pair + "a.sendto(b'x', '" + at + "')":  false,
		pair + "socket.socket(socket.AF_INET)": true,
		"import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)":     false,
		"import socket; socket.socketpair(socket.AF_UNIX, 3)":                     false, // a raw one
		"import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)": true,
		"import os; os.setxattr('" + other + "', 'user.x', b'1')":                 false,
		"import os; f = os.open('" + dir + "/own', 66); os.fchmod(f, 0o751)":      true,
		"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')":            false,
		syscall + "exit(call(425, 1, 0) != -1)":                                   true, // io_uring_setup
		syscall + "exit(call(0x40000000 + 41, 1, 1, 0) >= 0)":                     true, // x32's socket
	} {
		out, err := confined(dir, python+" -c \""+code+"\"").CombinedOutput()
		refused := regexp.MustCompile("Permission denied|not permitted|not supported|already connected").Match(out)
		if (err == nil) != want || refused == want {
			t.Errorf("%s: %v, want success: %v\n%s", code, err, want, out)
		}
	}
}

// TestAvailable refuses a kernel whose Landlock would let signals out.
func TestAvailable(t *testing.T) {
	now := abi
	defer func() { abi = now }()
	for version, want := range map[int]string{
		-1: "needs Landlock", 5: "needs Linux 6.12 or later: before, a check could end other processes of yours", 6: "",
	} {
		abi = func() int { return version }
		err := Available()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Landlock %d: %v, want %q", version, err, want)
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
	out, err := confined(link, "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too many levels") {
		t.Errorf("%v: %s", err, out)
	}
}
