//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sys/unix"
)

// report is all that a run has measured.
type report struct {
	Machine []string
	Date    string
	Took    time.Duration
	Rows    []row
	Growths []growth
}

//go:embed report.md.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms": ms, "megabytes": kilobytes, "reason": func(r row) string { return reasons[r.Title] },
	"times": func(f figure, of *figure) string { return fmt.Sprintf("%.2f", times(f, *of)) },
}).Parse(reportText))

func (r report) text() []byte {
	var b bytes.Buffer
	if err := reportTemplate.Execute(&b, r); err != nil {
		panic(err) // the template is ours
	}
	return b.Bytes()
}

// Missed tells whether a row has missed a bar.
func (r row) Missed() bool {
	for _, b := range r.Bars {
		if !b.Met {
			return true
		}
	}
	return false
}

// Word says what became of a bar.
func (b bar) Word() string {
	switch {
	case b.Met:
		return "met"
	case b.Aim:
		return "**missed**, an aim"
	}
	return "**missed**"
}

// short is what a terminal shows of a row.
func (r row) short() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Title)
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "  %-24s %9s  p95 %9s  %8s  %d runs\n", f.Name, ms(f.Median), ms(f.P95), kilobytes(f.Peak), f.Runs)
	}
	for _, bar := range r.Bars {
		fmt.Fprintf(&b, "  %s: %s, %s\n", bar.Want, bar.Got, bar.Word())
	}
	return b.String()
}

// ms shows a duration with three digits.
func ms(d time.Duration) string {
	switch v := float64(d) / 1e6; {
	case v < 10:
		return fmt.Sprintf("%.2f ms", v)
	case v < 100:
		return fmt.Sprintf("%.1f ms", v)
	case v < 1000:
		return fmt.Sprintf("%.0f ms", v)
	default:
		return fmt.Sprintf("%.2f s", v/1000)
	}
}

func kilobytes(n int64) string {
	if n == 0 {
		return ""
	}
	return megabytes(n << 10)
}

func megabytes(n int64) string {
	if n < 100e6 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// number writes 10000 as 10,000.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesWord writes a power of two bytes.
func bytesWord(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d KB", n>>10)
}

// machine says what a run was made on.
func machine(disk string) []string {
	model := "unknown"
	info, _ := os.ReadFile("/proc/cpuinfo") // what cannot be read is not said
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	first := func(argv ...string) string {
		out, _ := exec.Command(argv[0], argv[1:]...).Output()
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	load, _, _ := strings.Cut(first("cat", "/proc/loadavg"), " ")
	kind := "an unknown file system"
	var fs unix.Statfs_t
	if unix.Statfs(disk, &fs) == nil {
		kind = map[int64]string{unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.TMPFS_MAGIC: "tmpfs"}[int64(fs.Type)]
	}
	return []string{
		fmt.Sprintf("%d cores, %s, load %s at the start", runtime.NumCPU(), model, load),
		"Linux " + first("uname", "-r") + "; memory is tmpfs, the disk " + kind,
		strings.TrimPrefix(first("go", "version"), "go version "),
		"Node " + strings.TrimPrefix(first("node", "--version"), "v"),
		first("jq", "--version"), first("bash", "--version"), first("git", "--version"),
	}
}

// reasons are why a bar is missed where it is, by the row's title, as profiles
// have shown it (perf, page faults by stack, GODEBUG=inittrace=1). They are shown
// only then.
var reasons = map[string]string{
	titleIdle: "Nearly all of what is above the floor happens before the first line of ours: Go sets up each package that is linked in, which touches memory for the first time, " +
		"and that is what so short a process pays for. The largest parts are encoding/json, and regexp with the tables of Unicode.",
	titleChanged: "To what a process pays without a loop comes more memory that is touched for the first time, " +
		"and the system calls of a lock, eight reads, two writes and two logs, none of which stands out. How much faster than its rivals any hook could be here is what the floor is, which stands above the table.",
	titleDurable:   "The same as in memory. Besides, making a file and renaming it over another one take their time on this disk as well as the fsyncs, which the bar does not grant; the last line of the table has both.",
	titleUnchanged: "Two processes have to be started and heard, and what was found before is loaded a second time after they have answered, since the lock is not held meanwhile.",
	titleLong: "To what a process pays with ten features comes the list: every byte of it is checked, since gjson answers on broken JSON too, " +
		"the parts of each item are found, ids are compared and all states hashed, in memory that is touched for the first time.",
	titleHuge: "Every byte is checked, every id compared and every state hashed, in memory that is touched for the first time.",
}

// The titles of rows whose bars have a reason.
const (
	titleIdle      = "No loop in the project"
	titleChanged   = "Continue, 10 features, the list changed since the last stop"
	titleDurable   = "The same on disk"
	titleUnchanged = "The same in memory with nothing changed, in a git repository of 200 files"
	titleLong      = "A list of 6,000 features, in memory"
	titleHuge      = "A list of 100,000 features, in memory"
	titleSize      = "The binary, stripped"
)
