//go:build unix

package loopdir

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestReplaced reads a file and a folder that an agent replaces all the time: by a FIFO, by a link out, and by what
// they were. No read waits, and none that must stay in a folder leaves it.
func TestReplaced(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(secret, []byte("secret"), 0o600), os.WriteFile(filepath.Join(dir, "own"), []byte("own\n"), 0o600),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
		os.Symlink(secret, filepath.Join(dir, "out")), os.Symlink(filepath.Dir(secret), filepath.Join(dir, "away")),
		os.WriteFile(filepath.Join(dir, "folder", "secret"), []byte("own\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "sub")
	swap := func(path, to string) { // atomically, but for the folder
		if to == "folder" {
			_ = os.Remove(path)
			_ = os.Mkdir(path, 0o700)
			_ = os.Link(filepath.Join(dir, "own"), filepath.Join(path, "secret"))
			return
		}
		_ = os.RemoveAll(path)
		if link, err := os.Readlink(filepath.Join(dir, to)); err == nil {
			_ = os.Symlink(link, path)
		} else if to == "fifo" {
			_ = syscall.Mkfifo(path, 0o600)
		} else {
			_ = os.Link(filepath.Join(dir, to), path)
		}
	}
	stop, agent := make(chan struct{}), sync.WaitGroup{}
	agent.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				swap(file, []string{"own", "fifo", "own", "out"}[i%4])
				swap(folder, []string{"folder", "fifo", "folder", "away"}[i%4])
			}
		}
	})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	read, done := map[string]int{}, make(chan string, 1)
	go func() {
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			text, _ := ReadFile(dir, "file", 100)
			tail := LogTail(root, "file", 100)
			inFolder := []byte(nil)
			if below, err := OpenFolder(root, "sub"); err == nil {
				inFolder = LogTail(below, "secret", 100)
				below.Close()
			}
			for name, got := range map[string][]byte{"ReadFile": text, "LogTail": tail, "OpenFolder": inFolder} {
				if strings.Contains(string(got), "secret") {
					done <- name + " has read a file from outside"
					return
				}
				if len(got) > 0 {
					read[name]++
				}
			}
			if text, err := ReadAny(file, 100); err == nil && len(text) > 0 {
				read["ReadAny"]++
			}
			if text, err := TailAny(file, 2); err == nil && len(text) == 2 {
				read["TailAny"]++
			}
		}
		done <- ""
	}()
	select {
	case wrong := <-done:
		if wrong != "" {
			t.Error(wrong)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a read waits for the writer of a FIFO")
	}
	close(stop)
	agent.Wait()
	for _, name := range []string{"ReadFile", "LogTail", "OpenFolder", "ReadAny", "TailAny"} {
		if read[name] == 0 {
			t.Errorf("control: %s has never read the file that should be there", name)
		}
	}
}

// TestFlicker follows a log that an agent replaces by another one all the time. More returns, and takes no more than
// two logs at once.
func TestFlicker(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	path := filepath.Join(l.Dir, HookLog)
	for _, name := range []string{".a", ".b"} {
		if err := os.WriteFile(path+name, make([]byte, maxLog), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stop, agent := make(chan struct{}), sync.WaitGroup{}
	agent.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.Link(path+[]string{".a", ".b"}[i%2], path+".new")
				_ = os.Rename(path+".new", path)
			}
		}
	})
	_, log := s.OpenLog(HookLog, 1)
	most := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		most = max(most, len(log.More()))
	}
	close(stop)
	agent.Wait()
	if most == 0 || most > 2*maxLog {
		t.Errorf("at most %d bytes were read at once, want up to %d", most, 2*maxLog)
	}
}
