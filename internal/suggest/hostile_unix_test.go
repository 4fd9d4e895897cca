//go:build unix

package suggest

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestHostile sees that nothing of a project makes For wait, fail, leave the project, or say what a configuration
// cannot have.
func TestHostile(t *testing.T) {
	const (
		loop    = "include Makefile\nA = $(A)$(A)\nloop: loop\n\t$(MAKE) loop $(A)\n\tmake -f Makefile\n"
		scripts = `{"scripts": {"test": "npm test", "pretest": ["npm", {"a": 1}], "x`
		rules   = "[\n**/**/**/a/**/**/*a*a*a*a*a*b\n!\n/\n\\\n{a,b\n[z-a]\n"
	)
	for name, text := range map[string]string{
		"names":      "sh ./+a.sh; sh ./a#b.sh; sh './[x].sh'; sh ./a,{b}.sh; sh ../out.sh; . /etc/profile",
		"no folder":  "make -C nowhere; cd nowhere && ./a.sh; make -C; cd; pytest -c; sh -c; docker; npm; .",
		"odd texts":  "\x00\xff\x00 sh \x00../../out.sh | \x00 -C \x00/etc make $( `` ${ \"",
		"loop":       "make loop",
		"long line":  strings.Repeat("A=$A$A$A ", 5000) + " $A",
		"many words": strings.Repeat("make -C sub x; ./a.sh ", 20000),
		"pipe":       "sh ./pipe.sh; make -C sub; cat pipe.sh",
		"links":      "sh ./link.sh && ./folder.sh && make -f link.mk",
		"large":      "sh ./large.sh",
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			top := filepath.Join(above, "project")
			write(t, above, []txtar.File{{Name: "out.sh", Data: []byte("pytest\n")}})
			write(t, top, []txtar.File{
				{Name: "+a.sh"}, {Name: "a#b.sh"}, {Name: "[x].sh"}, {Name: "a,{b}.sh"}, {Name: "t/a\nb_test.go"},
				{Name: "Makefile", Data: []byte(loop)}, {Name: "package.json", Data: []byte(scripts)},
				{Name: ".gitignore", Data: []byte(rules + strings.Repeat("*a*b*c\n", 5000))},
				{Name: "large.sh", Data: []byte(strings.Repeat("pytest\n", 20000))},
				{Name: "folder.sh/x", Data: []byte("git\n")},
			})
			err := syscall.Mkfifo(filepath.Join(top, "pipe.sh"), 0o600)
			for link, to := range map[string]string{
				"link.sh": "../out.sh", "link.mk": "link.mk", "loop": ".", "sub": "..",
			} {
				err = cmp.Or(err, os.Symlink(to, filepath.Join(top, link)))
			}
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			For(top, ".", []string{text[:len(text)/10]})
			tenth := time.Since(begin)
			begin = time.Now()
			s := For(top, ".", []string{text, "", text})
			took := time.Since(begin)
			valid(t, s)
			if took > max(5*time.Second, 40*tenth) { // a busy machine takes longer for the tenth, too
				t.Errorf("it took %v, and %v for a tenth of it", took, tenth)
			}
			for _, pattern := range s.Protect {
				if strings.Contains(pattern, "conftest") {
					t.Errorf("it read %q", pattern)
				}
			}
		})
	}
}
