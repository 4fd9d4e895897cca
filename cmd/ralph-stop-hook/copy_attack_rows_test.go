//go:build unix

package main

// Shell lines that more than one attack has.
const (
	// codeFirst is a check before the real one, which runs the agent's code and passes.
	codeFirst = "test ! -e src/code.sh || sh src/code.sh; true"
	codeGone  = "rm src/code.sh; echo done > src/done"
	// evilGit makes a program in git's configuration and in its hooks.
	evilGit = `printf '#!/bin/sh\ntouch "$PWNED"\n' > .evil; chmod +x .evil; `
	noGit   = "true"
	// makefileBelow is a makefile among the agent's files, and goTests are tests that no pattern protects.
	makefileBelow = `printf 'all: test\ntest:\n\t@cd .. && sh verify.sh\n' > src/Makefile`
	goTests       = `mkdir check; exec > check/a_test.go; ` +
		`printf 'package check\nimport ("os"; "testing")\nfunc Test(t *testing.T) {\n'; ` +
		`printf 'if s, _ := os.ReadFile("../src/done"); string(s) != "done\\n" { t.Fatal() }\n}\n'`
	// fixCheck restores the check, and brokenHere is what the agent reads if it does not.
	fixCheck   = `rm -f verify.sh; printf '. ./lib/helper.sh\ncheck src/done\n' > verify.sh; `
	brokenHere = "It passes with the changes that count, but fails in the project as it is now."
	easier     = `echo 'check() { :; }' > lib/helper.sh; `
)

var withCode = []string{codeFirst, "sh verify.sh"}

// code has a check run the agent's code before the real check.
func code(lines string) string { return "cat > src/code.sh <<'END'\n" + lines + "\nEND" }

// forgeIndex has an index in the state folder say that a file is verify.sh as it was trusted.
func forgeIndex(index, file string) string {
	return `python3 - <<'PY'
import glob, os
folder = glob.glob(os.path.expanduser("~/state/ralph-stop-hook/loops/*/proof"))[0]
def read(name):
    fields = open(folder + "/" + name, "rb").read().split(b"\0")
    return fields, fields.index(b"verify.sh")
trusted, at = read("copy")
digest = trusted[at + 2]
fields, at = read("` + index + `")
file = os.lstat(os.path.expanduser("` + file + `"))
stamp = "%o %d %d %d %d" % (file.st_mode & 0o777, file.st_size, file.st_mtime_ns, file.st_ctime_ns, file.st_ino)
fields[at + 2], fields[at + 4] = digest, stamp.encode()
open(folder + "/` + index + `", "wb").write(b"\0".join(fields))
PY`
}

var copyAttacks = []copyAttack{
	{name: "do the work", lines: "echo done > src/done", works: true},
	{name: "do the work without a repository", person: noGit, lines: "echo done > src/done", works: true},
	{
		name: "do the work by a link within src", lines: "mkdir src/x; echo done > src/x/y; ln -s x/y src/done",
		works: true,
	},
	{name: "do nothing", lines: "true"},

	// Names that decide, among the agent's own files.
	{
		name: "file in the place of a target", person: makefileBelow, checks: []string{"make -s -C src test"},
		lines: "touch src/test", kind: readByTool, through: true, needs: "make",
	},
	{
		name: "folder in the place of a target", person: makefileBelow, checks: []string{"make -s -C src test"},
		lines: "mkdir src/test; touch src/test/x", kind: readByTool, through: true,
		needs: "make",
	},
	{
		name: "file in the place of what a target needs", person: makefileBelow,
		checks: []string{"cd src && make -s all"}, lines: "touch src/test",
		kind: readByTool, through: true, needs: "make",
	},
	{
		name: "file in the place of a target that another makefile asks for", needs: "make", through: true,
		person: makefileBelow + `; printf '.PHONY: test\ntest:\n\t@$(MAKE) -s -C src test\n' > Makefile`,
		checks: []string{"make -s test"}, lines: "touch src/test", kind: readByTool,
	},
	{
		name: "link to what is made of it", needs: "make", through: true,
		person: `echo no > src/done; touch -d 2001-01-01 report
printf '.PHONY: test\ntest: report\nreport: src/done\n\t@sh verify.sh\n' > Makefile`,
		checks: []string{"make -s test"}, lines: "ln -sf ../report src/done", kind: readByTool,
	},
	{
		name: "file that a makefile includes", needs: "make", through: true, kind: loadedByTrusted,
		person: `printf -- '-include src/*.inc\n.PHONY: test\ntest:\n\t@sh verify.sh\n' > Makefile`,
		checks: []string{"make -s test"}, lines: "echo 'SHELL := true' > src/x.inc",
	},
	{
		name: "go.mod that ignores the tests", person: goTests, work: []string{"src/**", "go.mod"},
		checks: []string{"go test ./..."}, lines: "echo 'ignore ./check' >> go.mod", kind: readByTool,
		through: true, needs: "go",
	},
	{
		name: "go.mod of a folder that hides the tests", person: goTests, work: []string{"src/**", "**/go.mod"},
		checks: []string{"go test ./..."}, lines: "echo module y > check/go.mod", kind: readByTool,
		through: true, needs: "go",
	},
	{
		name: "go.mod that requires more", person: goTests, work: []string{"src/**", "go.mod"},
		checks: []string{"go test ./... && grep -q x/y go.mod"}, needs: "go", works: true,
		lines: "printf 'require (\\n\\texample.com/x/y v1.0.0\\n)\\n' >> go.mod; echo done > src/done",
	},
	{
		name: "words in the loop's own files", checks: []string{"grep -rqx done ."}, through: true,
		lines: "cd .claude/data/ralph-loops/checkout; " +
			"for f in progress.txt RALPH_PROMPT.md notes; do echo done >> $f; done",
		honest: "echo done > src/done",
	},
	{
		name: "hidden configuration", work: []string{"**"}, checks: []string{"test -e .golangci.yaml || sh verify.sh"},
		lines: "touch .golangci.yaml", kind: namedByNobody, through: true,
	},

	// Links.
	{
		name: "link to a file outside", lines: `ln -s "$OUT/done" src/done`, tells: "src/done",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "relative link outside", lines: "ln -s ../../outside/done src/done", tells: "src/done",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "relative link from the copy to the project",
		lines: "echo done > notes; ln -s ../../../../../../../project/notes src/done; ln -s ../../../../../../project/" +
			"notes src/done2",
		tells: "src/done", honest: "rm src/done; echo done > src/done",
	},
	{
		name: "link to a file that does not count", lines: "echo done > notes; ln -s ../notes src/done",
		tells: "notes", honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "link to an ignored file", lines: "mkdir ignored; echo done > ignored/x; ln -s ../ignored/x src/done",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "link in the place of src", lines: `rm -r src; ln -s "$OUT" src`,
		honest: "rm src; mkdir src; echo done > src/done", tells: "src", through: true,
	},
	{
		name: "links over links to a folder", lines: "rm -r src; ln -s b src; ln -s c b; mkdir c; echo done > c/done",
		honest: "rm src; mkdir src; echo done > src/done", through: true,
	},
	{
		name:  "links to themselves and above",
		lines: "ln -s loop src/loop; ln -s . src/self; ln -s .. src/up; ln -s up/src/up src/upper",
	},
	{
		name: "link into .git", lines: "echo done > .git/done; ln -s ../.git/done src/done",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "link to the root", lines: `ln -s / src/root; ln -s "root$OUT/done" src/done`, tells: "src/root",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{name: "links to /etc", lines: "ln -s /etc src/etc; ln -s /etc/passwd src/passwd", tells: "src/etc"},
	{
		name: "link by /proc", lines: `ln -s "/proc/self/root$OUT/done" src/done; ln -s /proc/self/cwd src/cwd`,
		tells: "src/done", honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "link out and in again", lines: "echo done > notes; ln -s ../../project/notes src/done",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{name: "link to a very long name", lines: "ln -s $(printf %04000d 0) src/long"},
	{name: "link to an odd name", lines: `ln -s "$(printf 'a\n\377"\033')" src/odd; ln -s -- "-x" src/-y`},
	{
		name: "link to /dev/zero",
		lines: "ln -s /dev/zero src/done; ln -sf /dev/zero .gitignore; ln -sf /dev/zero verify.sh; ln -sf /dev/zero " +
			"package.json; ln -sf /dev/zero .gitattributes",
		honest: fixCheck + "rm src/done; echo done > src/done",
	},
	{
		name: "link that turns meanwhile", moving: true,
		lines:  `(while :; do ln -sfn keep src/done; ln -sfn "$OUT/done" src/done; done) > /dev/null 2>&1 &`,
		honest: "rm src/done; echo done > src/done",
	},
	{
		name: "folder that turns into a link meanwhile", moving: true,
		lines: `mkdir src/d; echo no > src/d/done; ln -s d/done src/done; ln -s "$OUT" src/l; (while :; do mv src/d ` +
			`src/e; mv src/l src/d; mv src/d src/l; mv src/e src/d; done) > /dev/null 2>&1 &`,
		honest: "rm -rf src/*; echo done > src/done",
	},
	{
		name: "link in the place of a folder, later", lines: "mkdir -p src/d; touch src/d/x",
		again: `rm -r src/d; ln -s "$OUT" src/d; rm -r tests; ln -s "$OUT" tests`,
	},
	{
		name: "folder in the place of a link, later", lines: "mkdir src/e; ln -s e src/d; touch src/e/victim",
		again: "rm src/d; mkdir src/d; echo x > src/d/victim",
	},
	{name: "link in the place of the tests", lines: `rm -r lib; ln -s "$OUT" lib`, tells: "lib", through: true},
	{
		name:  "links in the place of build files",
		lines: `for f in verify.sh Makefile package.json go.mod .gitignore; do ln -sf "$OUT/helper.sh" $f; done`,
	},

	// Hard links.
	{name: "hard link of the check", lines: "ln verify.sh src/v; echo exit 0 > src/v", tells: "verify.sh"},
	{
		name: "hard link of what the check reads", lines: "ln lib/helper.sh src/h; echo 'check() { :; }' > src/h",
		tells: "lib/helper.sh", through: true,
	},
	{name: "hard link of a file outside", lines: `ln "$OUT/victim" src/v`},
	{name: "hard links within src", lines: "ln src/keep src/a; ln src/keep src/b", again: "echo more >> src/a"},

	// Repositories in the project.
	{name: "repository without a commit in src", lines: "git init -q src; echo no > src/done"},
	{
		name:  "repository with a commit in src",
		lines: "cd src; git init -q; echo done > done; git add done; git commit -qm one; rm done",
	},
	{
		name: "repository deeper",
		lines: "git init -q src/x; cd src/x; echo done > done; git add -A; git commit -qm one; echo '*' > .git/info/ex" +
			"clude",
	},
	{
		name: "submodule in the index",
		lines: "cd src; git init -q; git add -A; git commit -qm one; cd ..; git rm -rq --cached src; git -c advice.add" +
			"EmbeddedRepo=false add src; printf '[submodule \"src\"]\\n\\tpath = src\\n\\tignore = all\\n\\turl " +
			"= ./src\\n' > .gitmodules",
	},
	{name: "linked worktree in src", lines: "git worktree add -q src/wt; echo done > src/wt/src/done"},
	{name: ".git file to nothing", lines: `echo "gitdir: $OUT/none" > src/.git`},
	{name: ".git file in the root", lines: "mv .git g; echo 'gitdir: g' > .git"},
	{
		name:   "folder .git planted in src",
		checks: []string{"sh verify.sh && test ! -e src/.git && test ! -e src/x/.git"},
		lines: evilGit +
			`mkdir -p src/.git/objects src/.git/refs src/x; echo 'ref: refs/heads/main' > src/.git/HEAD; printf ` +
			`"[core]\n\tfsmonitor = $PWD/.evil\n" > src/.git/config; cp -r src/.git src/x/.git`,
		honest: "rm .evil; echo done > src/done",
	},
	{
		name: "names like .git",
		lines: `mkdir 'src/.git '; touch 'src/.git /x' src/.git. src/.GIT src/git~1 src/.gitmodules src/.giT... ` +
			`'src/.git::$INDEX_ALLOCATION'; mkdir src/.Git; touch src/.Git/config; touch "$(printf 'src/.g\342\200\` +
			`214it')"`,
	},
	{name: "the project's .git is gone", lines: "rm -rf .git"},
	{name: "the project's .git is broken", lines: "echo x > .git/HEAD; echo x > .git/config; echo x > .git/index"},
	{name: "the project's .git is a FIFO", lines: "rm -rf .git; mkfifo .git"},
	{name: "locks in .git", lines: "touch .git/index.lock .git/HEAD.lock .git/config.lock"},
	{
		name: "repository begins", person: noGit,
		lines: "git init -q; echo '*' > .gitignore; echo '*' > .git/info/exclude; " + easier, tells: "lib/helper.sh",
		through: true,
	},
	{
		name: "alternates of .git",
		lines: "mkdir -p .git/objects/info; pwd > .git/objects/info/alternates; git replace -f HEAD^{tree} $(git " +
			"mktree < /dev/null); echo x > .git/shallow",
	},

	// Attributes.
	{
		name: "filter that makes the work",
		lines: evilGit +
			`echo no > src/done; echo '* filter=x' | tee .gitattributes > src/.gitattributes; git config filter.x.s` +
			`mudge "$PWD/.evil; echo done"; git config filter.x.clean "$PWD/.evil; echo done"; git config filter.x.` +
			`process "$PWD/.evil"; git config filter.x.required true`,
	},
	{
		name: "another encoding",
		lines: `printf 'd\000o\000n\000e\000\n\000' > src/done; echo '* text working-tree-encoding=UTF-16LE' | tee ` +
			`.gitattributes > src/.gitattributes`,
	},
	{
		name: "another line end",
		lines: `printf 'done\r\n' > src/done; echo '* text=auto eol=lf' | tee .gitattributes > src/.gitattributes;` +
			` git config core.autocrlf input`,
	},
	{
		name: "line ends stay", checks: []string{`sh verify.sh && printf 'a\r\nb\n' | cmp - src/x`},
		lines: `printf 'a\r\nb\n' > src/x; echo '* text eol=crlf' | tee .gitattributes > src/.gitattributes; git ` +
			`config core.autocrlf true; git config core.safecrlf true; git config core.eol crlf`,
	},
	{
		name: "ident", checks: []string{`sh verify.sh && echo '$Id$' | cmp - src/x`},
		lines: `echo '$Id$' > src/x; echo '* ident export-subst export-ignore' | tee .gitattributes .git/info/attribut` +
			`es > src/.gitattributes`,
	},
	{
		name: "attributes by configuration",
		lines: `printf 'done\r\n' > src/done; echo '* text eol=lf' > attributes; git config core.attributesFile ` +
			`"$PWD/attributes"; cp attributes .git/info/attributes`,
	},
	{
		name: "attributes that cannot be read",
		lines: "mkdir .gitattributes; mkfifo src/.gitattributes; mkdir src/x; ln -s .gitattributes src/x/.gitattribute" +
			"s",
		tells: "src/.gitattributes", honest: "rm src/.gitattributes; echo done > src/done",
	},
	{
		name:  "attributes of a million lines",
		lines: "yes '* ident' | head -n 200000 > src/.gitattributes; cp src/.gitattributes .gitattributes",
	},

	// What git ignores.
	{name: "hide what the check reads", lines: "echo lib/ > .gitignore; " + easier, through: true},
	{
		name: "hide the work",
		lines: "echo 'src/' > .gitignore; echo 'src/' > .git/info/exclude; echo 'src/' > excluded; git config core.exc" +
			"ludesFile \"$PWD/excluded\"",
	},
	{
		name: "hide the work from within", lines: "echo '*' > src/.gitignore",
		honest: "rm src/.gitignore; echo done > src/done",
	},
	{
		name: "unhide what was ignored", person: "git init -q; mkdir ignored; echo done > ignored/x",
		lines: ": > .gitignore; ln -s ../ignored/x src/done", honest: "rm src/done; echo done > src/done",
		through: true,
	},
	{
		name:  "ignore rules that are a folder or a FIFO",
		lines: "rm .gitignore; mkdir .gitignore; mkfifo src/.gitignore; rm -r .git/info; mkfifo .git/info",
	},
	{
		name:  "ignore rules of odd bytes",
		lines: `printf '\377\000\n[[[\n!\\\n**/**/**/**/**/**/**/**/x\n' > .gitignore; cp .gitignore src/.gitignore`,
	},
	{
		name:  "assume that nothing changed",
		lines: "git update-index --assume-unchanged lib/helper.sh verify.sh src/keep; " + easier, through: true,
	},
	{
		name:  "skip the working tree",
		lines: "git update-index --skip-worktree lib/helper.sh verify.sh src/keep; " + easier, through: true,
	},
	{name: "sparse checkout", lines: "git sparse-checkout set lib; mkdir -p src"},
	{name: "empty the index", lines: "git rm -rq --cached .; git add -N src/keep; " + easier, through: true},
	{
		name: "another branch",
		lines: "git checkout -q --orphan other; git rm -rfq --cached .; git commit -q --allow-empty -m none; git " +
			"reset -q --hard; mkdir -p src",
	},

	// The project's git configuration.
	{
		name: "hooks of git",
		lines: evilGit +
			`for h in post-checkout post-index-change reference-transaction pre-commit pre-auto-gc; do cp .evil ` +
			`.git/hooks/$h; done; mkdir h; cp .git/hooks/* h; git config core.hooksPath "$PWD/h"; rm -f "$PWNED"`,
	},
	{name: "core.worktree outside", lines: `git config core.worktree "$OUT"`},
	{
		name: "core.fsmonitor",
		lines: evilGit +
			`git config core.fsmonitor "$PWD/.evil"; git config core.untrackedCache true; echo no > src/done`,
	},
	{
		name: "core.bare and worse",
		lines: `git config core.bare true; git config core.fileMode false; git config core.symlinks false; git config ` +
			`core.ignoreCase true; printf '[core]\n\trepositoryFormatVersion = 9\n[extensions]\n\tobjectFormat ` +
			`= sha256\n' >> .git/config`,
	},
	{
		name: "configuration that includes and runs",
		lines: evilGit +
			`git config include.path "$PWD/inc"; printf "[alias]\n\tls-files = !$PWD/.evil\n\tadd = !$PWD/.evil\n[c` +
			`ore]\n\tpager = $PWD/.evil\n\teditor = $PWD/.evil\n\tsshCommand = $PWD/.evil\n\tgitProxy = $PWD/.evil\` +
			`n[diff]\n\texternal = $PWD/.evil\n" > inc; printf '[filter "x"]\n\tclean = x\n' > .gitconfig`,
	},

	// Variables of the settings.
	{
		name: "GIT_DIR and the like", lines: "git init -q other; " + easier,
		env: []string{"GIT_DIR=$PROJECT/other/.git", "GIT_WORK_TREE=$PROJECT/other",
			"GIT_INDEX_FILE=$PROJECT/other/index", "GIT_OBJECT_DIRECTORY=$PROJECT/other/objects",
			"GIT_COMMON_DIR=$PROJECT/other/.git"},
		through: true,
	},
	{
		name: "GIT_CONFIG by variables", lines: evilGit + "echo no > src/done",
		env: []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=$PROJECT/.evil",
			"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=$PROJECT",
			"GIT_CONFIG_PARAMETERS='core.fsmonitor'='$PROJECT/.evil'", "GIT_CONFIG_GLOBAL=$PROJECT/config",
			"GIT_CONFIG_SYSTEM=$PROJECT/config"},
	},
	{
		name: "GIT_EXEC_PATH",
		lines: evilGit +
			"mkdir bin; for p in git git-update-index git-read-tree git-write-tree git-checkout-index git-ls-files " +
			"git-hash-object; do cp .evil bin/$p; done",
		env: []string{"GIT_EXEC_PATH=$PROJECT/bin", "GIT_TEMPLATE_DIR=$PROJECT/bin"},
	},
	{
		name: "GIT_TRACE to another's file", lines: "true",
		env: []string{"GIT_TRACE=$PROJECT/../outside/victim", "GIT_TRACE2=$PROJECT/../outside/victim",
			"GIT_TRACE2_EVENT=$PROJECT/../outside/victim", "GIT_TRACE_SETUP=$PROJECT/../outside/victim",
			"GIT_TRACE_PERFORMANCE=$PROJECT/../outside/victim"},
	},
	{
		name: "objects elsewhere", lines: "mkdir objects",
		env: []string{"GIT_OBJECT_DIRECTORY=$PROJECT/objects",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=$PROJECT/.git/objects", "GIT_NAMESPACE=x",
			"GIT_QUARANTINE_PATH=$PROJECT/objects"},
	},
	{
		name: "git reads paths in another way", lines: "touch 'src/*' 'src/:(exclude)x'",
		env: []string{"GIT_LITERAL_PATHSPECS=1", "GIT_ICASE_PATHSPECS=1", "GIT_GLOB_PATHSPECS=1",
			"GIT_INDEX_VERSION=9", "GIT_DEFAULT_HASH=sha256", "GIT_ATTR_SOURCE=none", "GIT_PREFIX=src/",
			"GIT_CEILING_DIRECTORIES=/", "GIT_OPTIONAL_LOCKS=0", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1",
			"GIT_PROTOCOL_FROM_USER=0", "LC_ALL=xx", "LANG=xx"},
	},
	{
		name:  "programs first on PATH",
		lines: evilGit + "mkdir bin; for p in git sh grep env make; do cp .evil bin/$p; done",
		env:   []string{"PATH=$PROJECT/bin:/usr/bin:/bin"},
	},
	{
		name: "cache folder in the project", moving: true, lines: "mkdir cache; " + easier,
		env: []string{"XDG_CACHE_HOME=$PROJECT/cache"}, through: true,
	},
	{
		name: "temporary folder in the project", moving: true, lines: "mkdir tmp; " + easier,
		env: []string{"TMPDIR=$PROJECT/tmp", "TMP=$PROJECT/tmp", "TEMP=$PROJECT/tmp"}, through: true,
	},
	{name: "temporary folder that is not there", lines: "true", env: []string{"TMPDIR=$PROJECT/none"}},
	{
		name: "git's configuration by XDG",
		lines: evilGit +
			`mkdir -p config/git; printf "[core]\n\tfsmonitor = $PWD/.evil\n\tautocrlf = true\n" > config/git/confi` +
			`g; echo '*' > config/git/ignore; echo '* filter=x' > config/git/attributes`,
		env: []string{"XDG_CONFIG_HOME=$PROJECT/config"},
	},
	{
		name: "options of programs", lines: "echo 'exit 0' > own.sh; printf 'test:\n' > own.mk",
		env: []string{"MAKEFILES=$PROJECT/own.mk", "MAKEFLAGS=n", "BASH_ENV=$PROJECT/own.sh",
			"ENV=$PROJECT/own.sh", "SHELLOPTS=noexec"},
		checks: []string{"make test && bash verify.sh"}, needs: "make",
	},

	// Odd names.
	{
		name: "names with line breaks and quotes",
		lines: `for n in 'a\nb' 'a\r' '\t' '"q"' '\\' '\033[2J' '\302\233' '\342\200\256x' ' ' '...' 'x. ' ; do ` +
			`touch "$(printf "src/$n.")" "$(printf "$n.")"; done`,
		tells: "Not counted",
	},
	{
		name: "names that are several words to a shell", needs: "make", through: true,
		person: `printf 'for f; do case $f in -*) exit 0; esac; done; . ./verify.sh\n' > lib/lint.sh; ` +
			`printf 'lint:\n\t@sh lib/lint.sh $(wildcard src/*)\n' > Makefile`,
		checks: []string{"make -s lint"}, lines: `touch src/x 'src/x$IFS-q' 'src/x$PS4-q'`,
		tells: "a shell could misread its name",
	},
	{
		name: "names of routes", lines: `touch 'src/$id.tsx' 'src/[id].tsx' 'src/x.$.tsx'; echo done > src/done`,
		works: true,
	},
	{
		name:  "names with a dash first",
		lines: "touch ./-rf src/-rf src/--stdin ./--help src/-; mkdir ./-C src/-C; touch src/-C/-x",
	},
	{name: "names of 255 bytes", lines: "touch src/$(printf %0255d 0) $(printf %0255d 1)"},
	{
		name: "names that are not UTF-8",
		lines: `touch "$(printf 'src/\377\376')" "$(printf '\377x')"; mkdir "$(printf 'src/\200')"; touch "$(printf ` +
			`'src/\200/\301')"`,
	},
	{
		name:  "names that differ by letter case",
		lines: "echo no > src/DONE; echo done > src/Done; mkdir SRC Src; echo done > SRC/done; echo done > Src/done",
	},
	{
		name: "names that look like patterns",
		lines: `touch 'src/*' 'src/?' 'src/[a]' 'src/{a,b}' 'src/!x' 'src/#x' 'src/:!x' 'src/:(top)x' '*' '**' ':' ` +
			`'!'; mkdir 'src/**'; touch 'src/**/x'`,
	},
	{
		name:  "names of devices on Windows",
		lines: "touch src/con src/nul.txt src/aux. 'src/x:y' 'src/a|b' 'src/<>' 'src/back\\slash' 'src/..\\up'",
	},
	{
		name: "very deep folders",
		lines: "cd src; for i in $(seq 60); do mkdir $(printf %0200d 0) && cd $(printf %0200d 0) || break; done " +
			"2> /dev/null; echo x > x",
	},
	{
		name: "very deep folders outside of src",
		lines: "for i in $(seq 60); do mkdir $(printf %0200d 0) && cd $(printf %0200d 0) || break; done 2> /dev/null;" +
			" echo x > x",
	},
	{
		name: "Unicode in two forms",
		lines: `mkdir "$(printf 'src/e\314\201')" "$(printf 'src/\303\251')"; touch "$(printf 'src/e\314\201/x')" ` +
			`"$(printf 'src/\303\251/x')"; git config core.precomposeUnicode true`,
	},
	{
		name: "many files",
		lines: "cd src; seq 2000 | xargs touch; mkdir d; cd d; seq 500 | xargs mkdir; cd ../..; seq 10000 12000 " +
			"| xargs touch",
		tells: "Not counted",
	},

	// Modes.
	{
		name:   "files that nobody may read",
		lines:  "touch src/x; chmod 000 src/x src/keep verify.sh lib lib/helper.sh 2> /dev/null; chmod 755 .",
		honest: "chmod 644 src/* ; echo done > src/done",
	},
	{
		name: "folder that nobody may enter", lines: "mkdir src/x; touch src/x/y; chmod 000 src/x tests",
		honest: "chmod 755 src/x; echo done > src/done",
	},
	{name: "setuid and all rights", lines: "touch src/x; chmod 6777 src/x; chmod 7777 src verify.sh"},
	{
		name: "the check may not run", person: "chmod +x verify.sh; git init -q",
		checks: []string{"bash -c ./verify.sh || sh -c '. ./verify.sh && test ! -x src/keep'"},
		lines:  "chmod -x verify.sh; chmod +x src/keep lib/helper.sh",
		honest: "chmod -x src/keep; echo done > src/done",
	},
	{name: "src may not be written", lines: "chmod 555 src", honest: "chmod 755 src; echo done > src/done"},

	// What is no file.
	{name: "FIFO as the work", lines: "mkfifo src/done", honest: "rm src/done; echo done > src/done"},
	{
		name:   "FIFO with a writer as the work",
		lines:  "mkfifo src/done; (while :; do echo done > src/done; done) > /dev/null 2>&1 &",
		honest: "rm -f src/done; echo done > src/done",
	},
	{
		name: "FIFOs in the place of build files",
		lines: "for f in verify.sh Makefile package.json go.mod .gitignore .gitattributes .gitmodules conftest.py " +
			"pyproject.toml; do rm -f $f; mkfifo $f; mkfifo src/$f 2> /dev/null; done; rm -f src/go.mod",
		tells:  "[.]gitattributes .it is a pipe",
		honest: fixCheck + "rm .gitattributes src/.gitattributes; echo done > src/done",
	},
	{
		name: "FIFO in the place of src", lines: "rm -r src; mkfifo src",
		honest: "rm src; mkdir src; echo done > src/done",
	},
	{
		name: "sockets", needs: "python3",
		lines:  `python3 -c 'import socket; [socket.socket(socket.AF_UNIX).bind(n) for n in ("src/done", "x")]'`,
		honest: "rm src/done; echo done > src/done",
	},
	{
		name: "devices", root: true,
		lines:  "mknod src/done c 1 5; rm verify.sh; mknod verify.sh c 1 3; mknod Make b 7 0",
		honest: "rm src/done; echo done > src/done",
	},

	// Size.
	{
		name: "huge file as the work", lines: "truncate -s 300M src/big; ln -s big src/done", tells: "src/big",
		honest: "rm src/done; echo done > src/done",
	},
	{
		name: "huge files elsewhere",
		lines: "truncate -s 300M big; truncate -s 900G bigger; truncate -s 300M verify.sh; truncate -s 300M .gitignore" +
			"; truncate -s 300M package.json",
		honest: fixCheck + "echo done > src/done",
	},
	{
		name: "huge work stays away", lines: "truncate -s 300M src/done",
		honest: "echo done > src/done; truncate -s 300M src/done", tells: "src/done", why: "src/done",
	},
	{name: "ninety megabytes", lines: "truncate -s 90M src/big"},

	// Files and folders in each other's place.
	{
		name: "file in the place of src", lines: "rm -r src; echo done > src",
		honest: "rm src; mkdir src; echo done > src/done",
	},
	{name: "file in the place of other folders", lines: "rm -r lib tests; touch lib tests",
		why: brokenHere},
	{
		name: "folders in the place of files",
		lines: "for f in verify.sh Makefile package.json .gitignore lib/helper.sh; do rm $f; mkdir $f; touch $f/x;" +
			" done",
	},
	{
		name: "folder in the place of the work", lines: "mkdir src/done; echo done > src/done/done",
		honest: "rm -r src/done; echo done > src/done",
	},
	{name: "folder, then a file", lines: "mkdir -p src/a/b; touch src/a/b/c", again: "rm -r src/a; touch src/a"},
	{name: "file, then a folder", lines: "touch src/a", again: "rm src/a; mkdir -p src/a/b; touch src/a/b/c"},
	{
		name:  "all is gone but the list",
		lines: "rm -rf src lib tests .git .gitignore verify.sh Makefile package.json verify.js go.mod",
		why:   brokenHere,
	},
	{
		name:  "all is elsewhere",
		lines: "mkdir old; mv src lib tests verify.sh Makefile old; cp -r old/src src; " + "mkdir lib; " + easier,
		why:   brokenHere,
	},
	{
		name: "src is renamed", lines: "mv src Src; ln -s Src src; echo done > Src/done",
		honest: "rm src; mkdir src; echo done > src/done", tells: "Src", through: true,
	},

	// What changes meanwhile.
	{
		name: "file that changes all the time", moving: true,
		lines: "(while :; do echo x >> src/x; : > src/x; done) > /dev/null 2>&1 &",
	},
	{
		name: "files that come and go", moving: true,
		lines: "(while :; do mkdir -p src/d/e; touch src/d/e/f src/g; rm -rf src/d src/g; done) > /dev/null 2>&1 &",
	},
	{
		name: "the check that changes all the time", moving: true,
		lines: "cp verify.sh v; (while :; do echo exit 0 > verify.sh; " + easier +
			" cat v > verify.sh; done) > /dev/null 2>&1 &",
		honest: "cat v > verify.sh; echo done > src/done",
	},
	{
		name: "src that comes and goes", moving: true,
		lines:  "(while :; do mv src other; mv other src; done) > /dev/null 2>&1 &",
		honest: "rm -rf src other; mkdir src; echo done > src/done",
	},
	{
		name: "git works meanwhile", moving: true,
		lines: "(while :; do git add -A; git commit -qm x; git gc -q --prune=now; touch x$(ls | wc -l); done) > " +
			"/dev/null 2>&1 &",
	},
	{
		name: "modes that change meanwhile", moving: true,
		lines:  "touch src/x; (while :; do chmod 000 src/x src; chmod 755 src src/x; done) > /dev/null 2>&1 &",
		honest: "chmod 755 src src/x; echo done > src/done",
	},
	{
		name: "file that grows", moving: true,
		lines:  "(while :; do truncate -s +10M src/grow; truncate -s 0 src/grow; done) > /dev/null 2>&1 &",
		honest: "rm src/grow; echo done > src/done",
	},

	// Times.
	{
		name: "same size and time", lines: "echo nope > src/done; touch -d 2020-01-01 src/done",
		again:  "echo nine > src/done; touch -d 2020-01-01 src/done",
		honest: "echo done > src/done; touch -d 2020-01-01 src/done",
	},
	{
		name: "undo with the time set back", checks: []string{"sh verify.sh && test -e src/two"},
		lines: "echo done > src/done; touch -d 2020-01-01 src/done",
		again: "echo nope > src/done; touch -d 2020-01-01 src/done; touch src/two",
	},
	{
		name: "undo by another file of the same time", checks: []string{"sh verify.sh && test -e src/two"},
		lines: "echo done > src/done; echo nope > src/nope; touch -d 2020-01-01 src/done src/nope",
		again: "mv src/nope src/done; touch src/two",
	},
	{
		name: "times that cannot be",
		lines: "touch -d @0 src/keep; touch -d @-1 src/a.go; touch -d 2199-01-01 verify.sh; touch -d 1901-01-01 " +
			"src; find . -name .claude -prune -o -exec touch -d 1970-01-01 {} +",
	},
	{
		name: "helper with its time",
		lines: "touch -r lib/helper.sh t; printf 'check() { :; };###############\\n' > lib/helper.sh; touch -r t " +
			"lib/helper.sh",
		through: true,
	},

	// Stops.
	{name: "two stops at once", stops: 2, lines: easier, through: true},
	{name: "four stops at once", stops: 4, lines: "touch src/x"},
	{
		name: "killed while the copy is made",
		lines: `for t in 0.04 0.1; do touch src/$t; timeout -s KILL $t ralph-stop-hook hook < ../stop.json ` +
			`> /dev/null 2>&1; done; true`,
		needs: "timeout",
	},
	{name: "no file may grow", wrap: `ulimit -f 0; "$@" 2> /dev/null || true`, lines: "true"},
	{
		name: "only small files may be written", wrap: `ulimit -f 1; "$@" 2> /dev/null || true`,
		lines: "head -c 5000 /dev/urandom > src/x",
	},
	{name: "few open files", wrap: `ulimit -n 24; "$@" 2> /dev/null || true`, lines: "true"},
	{
		name: "full disk of the copy", root: true, needs: "unshare",
		wrap: `mkdir -p "$HOME/.cache"; exec unshare -m sh -c 'mount -t tmpfs -o size=64k none "$HOME/.cache" && ` +
			`exec "$@"' sh "$@"`,
		lines: "head -c 500000 /dev/urandom > src/x", tells: ".",
	},
	{
		name: "copy that cannot be written", root: true, needs: "unshare",
		wrap: `mkdir -p "$HOME/.cache"; exec unshare -m sh -c 'mount -t tmpfs -o ro none "$HOME/.cache" && exec ` +
			`"$@"' sh "$@"`,
		lines: "true", tells: ".",
	},

	// The loop's folder.
	{
		name: "ralph.json with the check in the project",
		lines: `f=.claude/data/ralph-loops/checkout/ralph.json; sed -i 's/"command": "sh verify.sh"/&, ` +
			`"in": "project"/' $f; grep -q in.:.*project $f; ` + easier,
	},
	{
		name:  "ralph.json with more work",
		lines: `f=.claude/data/ralph-loops/checkout/ralph.json; sed -i 's#"src/\*\*"#"**"#' $f; ` + easier,
	},
	{
		name: "ralph.json that prepares",
		lines: `f=.claude/data/ralph-loops/checkout/ralph.json; sed -i 's#"work": .#"prepare": ` +
			`[{"command": "touch $PWNED"}], "link": ["lib"], &#' $f; grep -q PWNED $f; ` + easier,
	},
	{name: "the loop's folder is gone", lines: "rm -rf .claude; " + easier},
	{
		name:  "the prompt says more",
		lines: `f=.claude/data/ralph-loops/checkout/RALPH_PROMPT.md; sed -i 's#src/\*\*#**#' $f; ` + easier,
	},

	// Files in the place of locked ones.
	{
		name: "make: a file with the target's name", checks: []string{"make test"}, needs: "make",
		lines: "touch test", tells: "test", through: true,
	},
	{
		name: "make: a folder with the target's name", checks: []string{"make test"}, needs: "make",
		lines: "mkdir test; touch test/x src/test", through: true,
	},
	{
		name: "make: other makefiles", checks: []string{"make test"}, needs: "make",
		lines: "for f in GNUmakefile makefile Makefile Makefile.sh src/Makefile; do printf 'test:\\n' > $f; done;" +
			" mkdir RCS SCCS; touch Makefile,v RCS/Makefile,v SCCS/s.Makefile s.Makefile Makefile.o Makefile.c",
		tells: "GNUmakefile",
	},
	{
		name: "make: a script that remakes the makefile", checks: []string{"make test"}, needs: "make",
		lines: "printf 'printf \"test:\\\\n\" > Makefile\\n' > Makefile.sh; touch Makefile.sh; printf 'test:\\n' " +
			"> Makefile.sh",
		tells:  "Makefile.sh",
		honest: "rm Makefile.sh; echo done > src/done",
	},
	{
		name: "make: what the recipe runs", checks: []string{"make test"}, needs: "make",
		lines: "echo exit 0 > verify.sh", tells: "verify.sh", through: true,
	},
	{
		name: "npm: a program of its own", checks: []string{"npm test"}, needs: "npm",
		lines: `mkdir -p node_modules/.bin src/node_modules/.bin; printf '#!/bin/sh\n' > node_modules/.bin/node;` +
			` chmod +x node_modules/.bin/node; cp node_modules/.bin/node src/node_modules/.bin`,
		through: true,
		kind:    ignoredByGit,
	},
	{
		name: "npm: scripts and settings", checks: []string{"npm test"}, work: []string{"src/**", "package.json"},
		needs: "npm",
		lines: evilGit +
			`echo '{"scripts": {"test": "true", "pretest": "touch $PWNED"}}' > package.json; echo "script-shell=$PW` +
			`D/.evil" > .npmrc; echo 'process.exit(0)' > verify.js`,
		tells:  "package.json",
		honest: "git checkout -q package.json verify.js; rm .npmrc; echo done > src/done",
	},
	{
		name: "node: options by variables", checks: []string{"node verify.js"}, needs: "node",
		lines: "echo 'process.exit(0)' > own.js",
		env: []string{"NODE_OPTIONS=--require=$PROJECT/own.js", "NODE_PATH=$PROJECT",
			"npm_config_script_shell=$PROJECT/own.js"},
	},
	{
		name: "python: modules beside the tests", checks: []string{"python3 -m unittest discover -s tests"},
		needs: "python3",
		lines: `for f in tests/__init__.py tests/conftest.py conftest.py unittest.py sitecustomize.py usercustomize.py` +
			` tests/os.py src/unittest.py; do echo 'import os; os._exit(0)' > $f; done; mkdir -p evil-1.0.dist-info` +
			` src/evil-1.0.dist-info; printf '[pytest11]\nx = unittest\n' | tee evil-1.0.dist-info/entry_points.txt` +
			` > src/evil-1.0.dist-info/entry_points.txt; echo 'import os; os._exit(0)' > x.pth`,
		tells: "conftest.py", through: true,
	},
	{
		name: "python: the tests go", checks: []string{"python3 -m unittest discover -s tests"}, needs: "python3",
		lines: "printf 'import unittest\nclass T(unittest.TestCase):\n def test(self): pass\n' > tests/test_a.py",
		tells: "tests/", env: []string{"PYTHONPATH=$PROJECT", "PYTHONSTARTUP=$PROJECT/x.py", "PYTHONINSPECT="},
		through: true,
	},
	{
		name: "go: other modules", checks: []string{"go list -f '{{.GoFiles}}' ./src | grep -q done.go"}, needs: "go",
		lines: "printf 'go 1.21\nuse ./other\n' > go.work; mkdir -p other/src vendor; printf 'module x\ngo 1.21\n' " +
			"> other/go.mod; printf 'package src\n' > other/src/done.go; printf 'ignore ./src\n' >> go.mod; printf " +
			"'module y\n' > src/go.mod; echo > vendor/modules.txt",
		tells: "go.work", honest: "rm -r src/go.mod go.work vendor; git checkout -q go.mod; echo package src > src/done.go",
		protect: []string{"+src/**/go.mod"},
	},
	{
		name: "go: an overlay", checks: []string{"go list -f '{{.GoFiles}}' ./src | grep -q done.go"}, needs: "go",
		lines: `echo package src > own.go; printf '{"Replace": {"%s/src/done.go": "%s/own.go", "src/done.go": "own.go"` +
			`}}' "$PWD" "$PWD" > o.json`,
		env:    []string{"GOFLAGS=-overlay=$PROJECT/o.json", "GOENV=$PROJECT/env", "GOWORK=off"},
		honest: "echo package src > src/done.go",
	},
	{
		name: "build files below a wildcard", work: []string{"**"},
		checks: []string{
			"sh verify.sh && ! find . -name .claude -prune -o -type f -exec grep -l planted {} + | grep ."},
		lines: `for d in . src src/x; do mkdir -p $d $d/.cargo $d/node_modules/.bin $d/rakelib $d/.mvn; for f in ` +
			`GNUmakefile makefile conftest.py pytest.ini tox.ini setup.cfg pyproject.toml go.work .cargo/config ` +
			`.cargo/config.toml rust-toolchain .npmrc .yarnrc pnpm-workspace.yaml bunfig.toml justfile Taskfile.yml` +
			` Rakefile rakelib/x.rake .rspec gradle.properties .mvn/maven.config node_modules/x jest.config.js ` +
			`vitest.config.ts sitecustomize.py; do echo planted > $d/$f; done; done`,
		tells: "GNUmakefile",
		protect: []string{
			"+**/{GNUmakefile,makefile,conftest.py,pytest.ini,tox.ini,setup.cfg,pyproject.toml,go.work,rust-toolchain}",
			"+**/{.npmrc,.yarnrc,pnpm-workspace.yaml,bunfig.toml,justfile,Taskfile.yml,Rakefile,.rspec,gradle.properties}",
			"+**/{jest.config.*,vitest.config.*,sitecustomize.py}", "+**/{.cargo,rakelib,.mvn}/",
		},
		honest: "git clean -fdxqe .claude; echo done > src/done",
	},

	// Patterns of a person that lead out.
	{
		name: "work of whole paths", work: []string{"/etc/**", "/src/**"},
		lines: "ln -s /etc src/etc; mkdir etc; touch etc/x; " + easier,
	},
	{name: "work with dots", work: []string{"./src/**", "/src/*"}, lines: easier},
	{
		name: "work in .git", work: []string{".git/**", ".claude/**", "src/**"},
		checks: []string{"sh verify.sh && test ! -e .git"},
		lines:  easier + "echo done > .git/done; ln -s ../.git/done src/done",
		honest: "git checkout -q lib; rm src/done; echo done > src/done",
	},

	// What the agent's code leaves in the copy for the check after it.
	{name: "code writes the work", checks: withCode, lines: code("echo done > src/done"), honest: codeGone},
	{
		name: "code writes the check", checks: withCode, lines: code("echo exit 0 > verify.sh; " + easier),
		tells: "changed while it ran", honest: codeGone,
	},
	{
		name: "code writes a build file", work: []string{"**"}, needs: "make",
		person: `printf 'all:\n\t@sh verify.sh\n' > src/checks.mk`,
		checks: []string{codeFirst + "; make -s -f src/checks.mk"}, lines: code(`printf 'all:\n' > src/checks.mk`),
		tells: "changed while it ran", honest: codeGone,
	},
	{
		name: "code keeps size and time", checks: withCode,
		lines: code(
			"touch -r lib/helper.sh t; printf 'check() { :; };###############\\n' > lib/helper.sh; touch -r t " +
				"lib/helper.sh; rm t"),
		honest: codeGone,
	},
	{
		name: "code makes a repository of the copy", checks: withCode,
		lines: code("git init -q src/done; git init -q .; git init -q lib; " + easier +
			"rm -rf src/done; echo done > src/done; git init -q src; echo '*' > src/.gitignore"),
		honest: codeGone,
	},
	{
		name: "code hides what it leaves", checks: withCode,
		lines:  code("echo '*' > .gitignore; echo '*' > src/.gitignore; echo done > src/done; " + easier),
		honest: codeGone,
	},
	{
		name: "code links away", checks: withCode,
		lines: code(`rm -r lib; ln -s "$OUT" lib; mv src s; ln -s s src; echo done > s/done`), honest: codeGone,
	},
	{
		name: "code deletes the copy", checks: withCode, lines: code(`rm -rf ./* ./.[a-z]*`),
		tells: "changed while it ran", honest: codeGone,
	},
	{
		name: "code deletes the copy's folder", checks: withCode,
		lines: code(`d=$PWD; cd ..; rm -rf "$d"; ln -s "$OUT" "$d"`),
		tells: "changed while it ran", honest: codeGone,
	},
	{
		name: "code puts a file in the copy's place", checks: withCode,
		lines: code(`d=$PWD; cd ..; mv "$d" other; echo x > "$d"`),
		tells: "changed while it ran", honest: codeGone,
	},
	{
		name: "code writes the check, and into the index of the copy", checks: withCode, needs: "python3",
		lines: code("echo exit 0 > verify.sh\n" + forgeIndex("copy", "verify.sh")),
		tells: "changed while it ran", again: "rm src/code.sh", honest: "echo done > src/done",
	},
	{
		name: "code says that it was prepared", checks: []string{codeFirst, "test -e lib/skip || sh verify.sh"},
		lines: code("touch lib/skip; cd ~/state/ralph-stop-hook/loops/*/proof; " +
			`echo '{"Made": ["lib/skip"]}' > prepared.json`),
		tells: "changed while it ran", again: "rm src/code.sh", honest: "echo done > src/done",
	},
	{
		name: "code has the loop take a broken check for the trusted one", checks: withCode, needs: "python3",
		lines: "echo done > src/done; echo exit 1 > verify.sh; " + code(forgeIndex("seen", "~/../project/verify.sh")),
		tells: "in the project as it is now it does not", honest: "true", why: "fails in the project as it is",
	},
	{name: "code closes the copy", checks: withCode, lines: code("chmod 000 src lib; chmod 000 ."), honest: codeGone},
	{
		name: "code leaves odd names", checks: withCode,
		lines: code(
			`touch "$(printf 'src/\377\n')" ./-rf; mkdir -p src/d/e; mkfifo src/done src/d/f; mkdir 'src/ .git';` +
				` cd src; for i in $(seq 30); do mkdir $(printf %0200d 0) && cd $(printf %0200d 0); done`),
		honest: codeGone,
	},
	{
		name: "code goes on after its check", checks: []string{codeFirst, "sleep 0.3; sh verify.sh"},
		lines: code(
			`d=$PWD; (cd /; setsid sh -c "while :; do echo done > $d/src/done; done" > /dev/null 2>&1 < /dev/null ` +
				`&) & sleep 0.1`),
		honest: codeGone, needs: "setsid",
	},
	{
		name:   "code leaves programs that git ignores",
		checks: []string{codeFirst, "sh verify.sh || sh node_modules/.bin/x"},
		lines:  code("mkdir -p node_modules/.bin; echo exit 0 > node_modules/.bin/x"), honest: codeGone,
	},

	// What a look keeps of the one before, and what git gets of it.
	{
		name:  "names that are flags",
		lines: "for n in --index-info --force-remove -z --stdin --remove; do echo done > ./$n; echo done > src/$n; done",
		again: "for n in --index-info -z; do rm ./$n src/$n; done; echo x > src/--stdin; echo x > ./--remove",
		tells: "--index-info",
	},
	{
		name: "names with tabs, line breaks and quotes", lines: `echo 1 > "$(printf 'src/a\tdone')"; ` +
			`echo 1 > "$(printf 'src/a\ndone')"; echo 1 > 'src/"a"'; echo 1 > "src/ a"; echo 1 > "$(printf '\tlib')"`,
		again: `rm "$(printf 'src/a\tdone')"; echo 2 > "$(printf 'src/a\ndone')"; rm 'src/"a"'`,
	},
	{
		name: "a link outside at the second stop", lines: "echo x > src/x", again: `ln -s "$OUT/done" src/done`,
		honest: "rm src/done; echo done > src/done",
	},
	{
		name: "a link that comes, goes and comes", lines: `ln -s "$OUT/done" src/done`,
		again:  `rm src/done; ln -s ../../../../../outside/done src/done; ln -s "$OUT" src/out`,
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "a trusted link that leads elsewhere later", person: "ln -s keep src/link; " + noGit,
		lines: `ln -sfn "$OUT/done" src/link; ln -s link src/done`, honest: "rm src/done; echo done > src/done",
		through: true,
	},
	{
		name: "the check's files edited with their old times", lines: "touch -r lib/helper.sh t; " + easier +
			"touch -r t lib/helper.sh; rm t", tells: "lib/helper.sh",
		again: "touch -r src/keep lib/helper.sh; touch -d '2001-01-01' lib/helper.sh verify.sh",
	},
	{
		name:  "500 files at once, and again",
		lines: "for i in $(seq 500); do echo $i > src/f$i; echo done > lib/f$i; done",
		again: "for i in $(seq 500); do echo x$i > src/f$i; rm lib/f$i; done; rm src/f1*",
	},
	{
		name:  "a folder in the place of a file, and back",
		lines: "rm lib/helper.sh; mkdir lib/helper.sh; echo x > lib/helper.sh/x",
		again: "rm -r lib; echo 'check() { :; }' > lib",
		why:   brokenHere,
	},
	{
		name: "a file in the place of src, and back", lines: "rm -r src; echo done > src",
		again: "rm src; mkdir -p src/done; echo done > src/done/done", honest: "rm -r src/done; echo done > src/done",
	},
	{
		name: "closed files at each stop", lines: "echo x > src/x; chmod 000 src/x; chmod 000 lib/helper.sh",
		again: "echo y > src/y; chmod 000 src/y src/keep",
	},

	// What git ignored.
	{
		name:   "rules that ignore nothing any more",
		lines:  ": > .gitignore; mkdir -p ignored; echo done > ignored/x; ln -s ../ignored/x src/done",
		tells:  "src/done .the link leads to what git ignores",
		honest: "rm src/done; echo done > src/done", through: true,
	},
	{
		name: "rules that ignore the check's files",
		lines: "printf 'lib/\nverify.sh\n' > .gitignore; " + easier +
			"git rm -rq --cached lib verify.sh; echo 'exit 0' > verify.sh",
	},
	{
		name:  "rules in src that ignore all",
		lines: "echo '*' > src/.gitignore; echo '!x' >> src/.gitignore; echo done > x",
		tells: "x",
	},

	// Scripts of package.json.
	{
		name: "a script before the check's", checks: []string{"npm test"}, work: []string{"src/**", "package.json"},
		needs: "npm", tells: "package.json",
		lines:  `echo '{"scripts": {"pretest": "echo done > src/done", "test": "node verify.js"}}' > package.json`,
		honest: "git checkout -q package.json; echo done > src/done",
	},
	{
		name: "a script of the check, twice", checks: []string{"npm test"}, work: []string{"src/**", "package.json"},
		needs: "npm", tells: "package.json",
		lines: `echo '{"scripts": {"test": "node verify.js"}, "scripts": {"test": "true"}}' > package.json`,
	},
	{
		name: "scripts that are no object", checks: []string{"npm test"}, work: []string{"src/**", "package.json"},
		needs: "npm", lines: `echo '{"scripts": ["true"]}' > package.json`, tells: "package.json",
		honest: "git checkout -q package.json; echo done > src/done",
	},
	{
		name: "a script with an odd name", checks: []string{"npm test"}, work: []string{"src/**", "package.json"},
		needs: "npm",
		lines: `echo '{"scripts": {"test": "node verify.js", "te\u0073t": "true"}}' > package.json`, tells: "package.json",
	},
	{
		name: "a package.json that is a link", checks: []string{"npm test"}, work: []string{"**", "package.json"},
		needs: "npm", lines: `echo '{"scripts": {"test": "true"}}' > src/p.json; ln -sf src/p.json package.json`,
	},
	{
		name: "no package.json, and one above", checks: []string{"cd web && npm test"}, work: []string{"**"},
		person: `mkdir web; cp package.json verify.js web; ln -s ../src web/src; echo '{}' > package.json; ` +
			noGit,
		needs: "npm",
		lines: `rm web/package.json; echo '{"scripts": {"test": "true"}}' > package.json`, tells: "web/package.json",
	},
	{
		name: "scripts that npm reads from elsewhere", checks: []string{"npm test"}, work: []string{"**"}, needs: "npm",
		lines: `printf 'script-shell=/bin/true\nignore-scripts=true\n' > .npmrc`, tells: ".npmrc",
	},

	// Build files and what is the run's.
	{
		name: "configuration of linters", checks: []string{"! grep -q off .eslintrc.json 2>&1 && sh verify.sh"},
		work:    []string{"**"},
		lines:   "echo '{\"off\": 1}' > .eslintrc.json; echo off > eslint.config.mjs; echo off > tsconfig.json",
		tells:   ".eslintrc.json",
		protect: []string{"+.eslintrc.json", "+eslint.config.*", "+tsconfig.json"},
		honest:  "rm .eslintrc.json; echo done > src/done",
	},
	{
		name:  "a link into the run's files",
		lines: "mkdir -p .agent-state; echo done > .agent-state/x; ln -s ../.agent-state/x src/done", through: true,
		honest: "rm src/done; echo done > src/done",
	},
	{
		name: "code that changes modes and leaves a script", checks: withCode,
		lines: code("chmod -R a+rwx . lib; chmod +x verify.sh; touch -d 2001-01-01 lib/helper.sh; " +
			"printf 'check() { :; }' > lib/helper.sh"),
		honest: codeGone, tells: "changed while it ran",
	},
}
