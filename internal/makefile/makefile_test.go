package makefile

import (
	"strings"
	"testing"
	"time"
)

// TestRead has a makefile and arguments of make in each row, and what make runs.
func TestRead(t *testing.T) {
	for _, row := range []struct{ text, args, want string }{
		{"test:\n\tsh t.sh\nother:\n\tsh o.sh\n", "", "sh t.sh"},
		{"test:\n\tsh t.sh\nother:\n\tsh o.sh\n", "other", "sh o.sh"},
		{"test:\n\tsh t.sh\nother:\n\tsh o.sh\n", "-s -C sub", "sh t.sh"},
		{"test:\n\tsh t.sh\nother:\n\tsh o.sh\n", "-j4 other test", "sh o.sh; sh t.sh"},
		{".PHONY: all\nall: a b\na: c\n\t@sh a.sh\nb: ; -sh b.sh\nc:\n\t+@ sh c.sh", "", "sh c.sh; sh a.sh; sh b.sh"},
		{"a: b\n\tx\nb: a\n\ty\n", "", "y; x"},
		{"V = v.sh\nPY := python3\na:\n\t$(PY) ${V} $$x $(W)\n", "", "python3 v.sh $x $?"},
		{"V ?= v.sh\nV ?= w.sh\na:\n\tsh $V\n", "", "sh v.sh"},
		{"V = v.sh\na:\n\tsh $(V)\n", "V=w.sh", "sh w.sh"},
		{"V = v\nV += w\na:\n\tsh $(V)\n", "", "sh v w"},
		{"ifeq ($(X),1)\nV = v.sh\nelse\nV = w.sh\nendif\na:\n\tsh $(V)\n", "", "sh $?"},
		{"V = $(V)\nW = $(shell ls (x))\na:\n\tsh $(V) $(W)y\n", "", "sh $? $?y"},
		{"V = $(wildcard t/*.sh)\na: $(V)\n\tsh $(V); sh $<; sh $^\n", "", "sh t/*.sh; sh t/*.sh; sh t/*.sh"},
		{"a: b.o c.o\n\tld $^ -o $@\n%.o: %.c\n\tcc $< -o $@ # $*\n", "",
			"cc b.c -o b.o # b; cc c.c -o c.o # c; ld b.o c.o -o a"},
		{"a.o b.o: %.o: %.c | dir\n\tcc\ndir:\n\tmkdir dir\n", "", "mkdir dir; cc"},
		{"a: X = y\na:\n\tsh $(X)\n", "", "sh y"},
		{"export V := v.sh # why\na: \\\n  b\nb:\n\tsh \\\n\t  $(V)\n", "", "sh  \t  v.sh"},
		{"define F\na:\n\tsh no.sh\nendef\na:\n\t$(F)\n", "", "$?"},
		{".DEFAULT_GOAL := b\na:\n\tx\nb:\n\ty\n", "", "y"},
		{"include x.mk $(Y)\na: x\n", "", "from x; in x.mk; open include $…"},
		{"include x.mk\nx: y\n", "x", "from x; in x.mk"},
		{"$(eval $(call F,x))\na:\n\tx\n", "", "x; open $(eval $(call F,x))"},
		{"a:\r\n\tsh t.sh\r\n", "", "sh t.sh"},
		{"", "", ""},
	} {
		r := Read(row.text, strings.Fields(row.args), func(name string) string {
			return map[string]string{"x.mk": "x:\n\tfrom x\ninclude x.mk\n"}[name]
		})
		got := r.Lines
		for _, name := range r.Included {
			got = append(got, "in "+name)
		}
		for _, text := range r.Open {
			got = append(got, "open "+text)
		}
		if got := strings.Join(got, "; "); got != row.want {
			t.Errorf("make %s of %q:\n got %s\nwant %s", row.args, row.text, got, row.want)
		}
	}
}

// TestReadLong has makefiles that would take for ever.
func TestReadLong(t *testing.T) {
	chain := ""
	for c := 'a'; c < 'z'; c++ {
		chain += strings.ReplaceAll("Xc = $(Xd)$(Xd)\n", "c", string(c))
		chain = strings.ReplaceAll(chain, "d", string(c+1))
	}
	for _, text := range []string{
		chain + "Xz =\na:\n\t$(Xa)\n", chain + "Xz = sh\na:\n\t$(Xa)\n", strings.Repeat("$(", 1<<15),
		"a:\n\t" + strings.Repeat("$(x", 1<<15), strings.Repeat("a: a\n", 1<<14), strings.Repeat("%a:\n", 1<<14),
		"a:" + strings.Repeat(" b%", 1<<14) + "\n%:\n\tx\n", "include x\n", strings.Repeat("X += $(X)\n", 1<<13),
	} {
		begin := time.Now()
		Read(text, nil, func(string) string { return text })
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%.40q: %v", text, took)
		}
	}
}
