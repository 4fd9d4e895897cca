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
)

// report is what one run measured.
type report struct {
	Machine []string // what it ran on, a point each
	Date    string
	Took    time.Duration
	Noise   float64 // percent by which the medians of the same hook, measured twice, differ
	Rows    []row
	Growths []growth
}

//go:embed report.md.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms": ms, "megabytes": megabytes,
	"times": func(f, of figure) string { return fmt.Sprintf("%.2f", times(f, of)) },
}).Parse(reportText))

// text returns the report as Markdown.
func (r report) text() ([]byte, error) {
	var b bytes.Buffer
	err := reportTemplate.Execute(&b, r)
	return b.Bytes(), err
}

// Word says what became of a bar.
func (b bar) Word() string {
	if b.Met {
		return "met"
	}
	return "**missed**"
}

// ms writes a duration with three digits.
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

func megabytes(bytes int64) string {
	if bytes == 0 {
		return "–" // not measured
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// number writes 10000 as 10,000.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// sizeNames are the sizes of transcripts, in words.
var sizeNames = map[int]string{1 << 10: "1 KB", 32 << 10: "32 KB", 1 << 20: "1 MB", 32 << 20: "32 MB", 1 << 30: "1 GB"}

// machine says what a run is made on. What it cannot learn is left empty.
func (b *bench) machine() []string {
	first := func(argv ...string) string {
		out, _ := exec.Command(argv[0], argv[1:]...).Output()
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	_, model, _ := strings.Cut(first("grep", "-m1", "model name", "/proc/cpuinfo"), ": ")
	load, _, _ := strings.Cut(first("cat", "/proc/loadavg"), " ")
	size := must(os.Stat(b.hook.argv[0])).Size()
	return []string{
		fmt.Sprintf("%d cores, %s, load %s at the start", runtime.NumCPU(), model, load),
		fmt.Sprintf("Linux %s; the disk is %s", first("uname", "-r"), first("stat", "-f", "-c", "%T", b.disk)),
		strings.TrimPrefix(first("go", "version"), "go version "),
		"Node " + strings.TrimPrefix(first("node", "--version"), "v"),
		first("jq", "--version"), first("bash", "--version"), first("git", "--version"),
		fmt.Sprintf("a `ralph-stop-hook` of %.2f MB", float64(size)/1e6),
	}
}
