package suggest

// tool is a program that checks run, or some of a kind. Its fields list words, and patterns relative to the folder in
// which it runs.
type tool struct {
	names    string // of the programs
	needs    string // files of which a project that is ready for the tool has one
	always   string // files that decide what the tool does, also new ones
	optional string // more of these, for a project that has them; after a # stands a key
	outputs  string // what it makes and git mostly ignores; ! before what it makes for sure
	quiet    string // words with which it runs no tests itself; * for all
	texts    string // files of which it runs lines; the first one that is there
	scripts  string // an object of commands in a JSON file, by name
	install  string // a command that makes packages
	holds    string // the folder of the packages, if it makes them there
}

// web has what programs for JavaScript make.
const web = `dist build out lib coverage .nyc_output .next .nuxt .output .svelte-kit .astro .angular .vite .cache
	.parcel-cache .docusaurus storybook-static .nx .wireit`

// tools are all that the product knows of build tools. Files to which an agent has to add dependencies, such as
// Cargo.toml and go.work, are only in needs.
var tools = []tool{
	{names: "make gmake", needs: "GNUmakefile makefile Makefile", always: "GNUmakefile makefile Makefile",
		optional: "**/*.mk", outputs: "build dist out bin", texts: "GNUmakefile makefile Makefile"},
	{names: "just", needs: "justfile Justfile .justfile", always: "justfile Justfile .justfile", optional: "**/*.just",
		texts: "justfile Justfile .justfile"},
	{names: "task", needs: "[Tt]askfile*.y*ml", always: "[Tt]askfile.{yml,yaml}", optional: "[Tt]askfile.dist.*",
		texts: "Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml"},

	{names: "npm pnpm yarn bun npm-run-all run-s run-p concurrently turbo nx lerna wireit", needs: "package.json",
		outputs: web, quiet: "ci i install add audit publish pack", scripts: "package.json#scripts"},
	{names: "npm npx pnpm", needs: "package.json", always: ".npmrc", optional: ".pnpmfile.cjs", quiet: "*"},
	{names: "turbo nx lerna wireit", optional: "turbo.json nx.json lerna.json", quiet: "*"},
	{names: "yarn", needs: "package.json", always: ".yarnrc*", optional: ".yarn/**", quiet: "*"},
	{names: "bun bunx", needs: "package.json", always: "bunfig.toml", quiet: "*"},
	{names: "deno", needs: "deno.json deno.jsonc", quiet: "fmt lint check cache install", scripts: "deno.json#tasks"},
	{names: "jest ts-jest react-scripts", needs: "package.json", always: "jest.config.*",
		optional: "jest.setup.* babel.config.* .babelrc* package.json#jest", outputs: web},
	{names: "vitest", needs: "package.json", always: "vitest.config.* vitest.workspace.*",
		optional: "vitest.setup.* vite.config.*", outputs: web},
	{names: "mocha", needs: "package.json", always: ".mocharc*", optional: "package.json#mocha", outputs: web},
	{names: "ava", needs: "package.json", always: "ava.config.*", optional: "package.json#ava", outputs: web},
	{names: "nyc c8", optional: ".nycrc* .c8rc* package.json#nyc package.json#c8", outputs: web, quiet: "*"},
	{names: "karma ng", optional: "karma.conf.* angular.json", outputs: web, quiet: "build lint"},
	{names: "playwright", needs: "package.json", always: "playwright.config.*",
		outputs: "test-results playwright-report blob-report"},
	{names: "cypress", needs: "package.json", always: "cypress.config.*",
		outputs: "cypress/videos cypress/screenshots"},
	{names: "vite next nuxt astro webpack rollup tsup esbuild", outputs: web, quiet: "*"},
	{names: "tsc vue-tsc tsx ts-node", optional: "tsconfig*.json", outputs: web, quiet: "*"},
	{names: "eslint", needs: "package.json", always: "eslint.config.* .eslintrc*",
		optional: ".eslintignore package.json#eslintConfig", quiet: "*"},
	{names: "prettier", optional: ".prettierrc* prettier.config.* .prettierignore package.json#prettier", quiet: "*"},
	{names: "biome", optional: "biome.json*", quiet: "*"},

	{names: "pytest py.test tox nox coverage hatch", needs: "**/*.py", optional: "setup.cfg .coveragerc",
		always:  "**/conftest.py pytest.{ini,toml} .pytest.{ini,toml} tox.ini",
		outputs: "htmlcov .coverage .hypothesis build dist"},
	{names: "tox", needs: "**/*.py", always: "tox.toml", outputs: ".tox", texts: "tox.ini"},
	{names: "nox", optional: "noxfile.py", outputs: ".nox"},
	{names: "invoke inv", optional: "tasks.py tasks/** invoke.*"},
	{names: "ruff", needs: "**/*.py", always: "ruff.toml .ruff.toml", quiet: "*"},
	{names: "mypy dmypy", needs: "**/*.py", always: "mypy.ini .mypy.ini", optional: "setup.cfg", quiet: "*"},
	{names: "pyright basedpyright", needs: "**/*.py", always: "pyrightconfig.json", quiet: "*"},
	{names: "flake8", optional: ".flake8 setup.cfg tox.ini", quiet: "*"},
	{names: "pylint", optional: ".pylintrc pylintrc", quiet: "*"},
	{names: "black isort bandit", optional: "setup.cfg .isort.cfg", quiet: "*"},
	{names: "uvx hatch pip", quiet: "*"},
	{names: "uv", needs: "pyproject.toml", quiet: "*", install: "uv sync", holds: ".venv"},
	{names: "poetry", needs: "pyproject.toml", quiet: "*", install: "poetry install"},
	{names: "pdm", needs: "pyproject.toml", quiet: "*", outputs: ".pdm-python .pdm.toml", install: "pdm install"},
	{names: "pipenv", needs: "Pipfile", quiet: "*", install: "pipenv install --dev"},

	{names: "rake rails", needs: "Gemfile [Rr]akefile*", always: "Rakefile",
		optional: "rakelib/** **/*.rake",
		outputs:  "tmp log coverage pkg public/assets"},
	{names: "rspec rails rake", needs: "Gemfile *.gemspec **/*.rb", always: ".rspec", outputs: "tmp log coverage"},
	{names: "rubocop standardrb", optional: ".rubocop*.yml", quiet: "*"},
	{names: "bundle gem", quiet: "*"},

	{names: "cargo cargo-nextest", needs: "Cargo.toml", always: ".cargo/** **/build.rs rust-toolchain*",
		optional: ".config/nextest.toml", outputs: "!target", quiet: "build check clippy fmt doc"},
	{names: "cargo clippy-driver", optional: "clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml", quiet: "*"},
	{names: "go gotestsum", needs: "go.mod go.work **/*.go",
		quiet: "build vet mod fmt generate install list env tool work version"},
	{names: "golangci-lint", needs: "**/*.go", always: ".golangci.*", quiet: "*"},
	{names: "gofmt goimports staticcheck revive", optional: "staticcheck.conf revive.toml", quiet: "*"},

	{names: "mvn mvnw", needs: "pom.xml", always: ".mvn/**", outputs: "!target", quiet: "compile"},
	{names: "gradle gradlew", needs: "*.gradle *.gradle.kts", always: "gradle.properties gradle/wrapper/**",
		optional: "buildSrc/**", outputs: "!build !.gradle", quiet: "assemble"},
	{names: "sbt", needs: "build.sbt", optional: "project/*.sbt project/build.properties",
		outputs: "!target project/target"},
	{names: "dotnet", needs: "*.sln *.slnx *.csproj *.fsproj *.vbproj", optional: "global.json *.runsettings",
		always: "**/Directory.Build.*", outputs: "!bin !obj TestResults", quiet: "build restore format"},

	{names: "composer", needs: "composer.json", outputs: "build", quiet: "install validate audit dump-autoload",
		scripts: "composer.json#scripts"},
	{names: "composer phpunit pest paratest artisan", needs: "composer.json", quiet: "*", install: "composer install",
		holds: "vendor"},
	{names: "phpunit pest paratest artisan", needs: "composer.json **/*.php", always: "phpunit.xml*",
		outputs: ".phpunit.cache .phpunit.result.cache build coverage"},
	{names: "phpstan psalm", optional: "phpstan*.neon* psalm.xml*", quiet: "*"},

	{names: "cmake ctest", needs: "CMakeLists.txt", always: "CMakeUserPresets.json",
		optional: "CMakePresets.json **/*.cmake", outputs: "!build out cmake-build-*",
		quiet: "-B -S --build --preset --install"},
	{names: "meson ninja", optional: "meson.options meson_options.txt", outputs: "build builddir", quiet: "setup compile"},
	{names: "bazel bazelisk", always: ".bazelrc", optional: ".bazelversion **/*.bzl", outputs: "bazel-*", quiet: "build"},
	{names: "zig", needs: "build.zig", outputs: "!zig-out !.zig-cache zig-cache"},
	{names: "swift xcodebuild", outputs: "!.build build DerivedData", quiet: "build"},
	{names: "mix", needs: "mix.exs", optional: "config/test.exs .credo.exs .formatter.exs", outputs: "!_build cover doc",
		quiet: "compile format credo deps.get"},
	{names: "dart flutter", needs: "pubspec.yaml", optional: "dart_test.yaml analysis_options.yaml",
		outputs: "!.dart_tool build coverage", quiet: "analyze format"},
	{names: "cabal stack", optional: "cabal.project* stack.yaml", outputs: "dist-newstyle .stack-work", quiet: "build"},

	{names: "docker docker-compose podman podman-compose", optional: "{docker-,}compose*.y*ml Dockerfile*", quiet: "*"},
	{names: "pre-commit", always: ".pre-commit-config.yaml", quiet: "*", texts: ".pre-commit-config.yaml"},
	{names: "lefthook", optional: "lefthook.y*ml", quiet: "*", texts: "lefthook.yml"},
	{names: "shellcheck", optional: ".shellcheckrc", quiet: "*"},
}

// usualTests are where tests and what they compare with mostly are. One that names folders at any depth stands for
// those in the root if there are no others.
const usualTests = `**/tests/** **/src/test/** test/** */test/** */*/test/** spec/** */spec/** */*/spec/**
	Tests/** specs/** e2e/** t/** integration/** cypress/** features/** src/*Test/** **/*.Tests/**
	**/__tests__/** **/__mocks__/** **/testdata/** **/__snapshots__/** fixtures/**
	**/*_test.go **/*.{test,spec,cy}.{js,jsx,ts,tsx,mjs,mts} **/*.snap
	**/test_*.py **/*_test.py **/tests.py **/*_{test,spec}.{rb,exs,rs,dart,lua,c,cc,cpp,ts,js}
	**/*{Test,Tests,IT}.{java,kt,scala,groovy,php,cs,swift} **/*Spec.{groovy,scala,kt,hs} **/*.bats`

// starters are words before a program.
const starters = `run exec x dlx -- -m -c sudo env time timeout nice nohup xargs eval shell ! { if then elif else while
	until do npx bunx uvx pipx cross-env dotenv xvfb-run flock`

// operators compare what stands before and behind them.
const operators = `= == != -eq -ne -lt -le -gt -ge ]`

// batches are the ends of names that Windows runs without a folder before them.
const batches = `.bat .cmd .ps1`

// interpreters are programs that run a file.
const interpreters = `sh bash zsh dash ksh source include sinclude python py pypy node ruby perl php deno bun tsx
	ts-node lua pwsh Rscript bats`

// calm are programs that run neither tests nor a script.
const calm = `true false : exit return test [ [[ echo printf set export unset local readonly trap shift read wait sleep
	grep egrep fgrep rg cat head tail wc sort uniq cut tr sed awk diff cmp jq yq xq ls find stat cp mv rm mkdir rmdir
	touch tee chmod ln tar curl wget date pwd popd command type which hash dirname basename mktemp kill fi done esac
	case for in function } git gh`

// containers are programs that run others in containers; mounters give them the project.
const (
	containers = "docker podman nerdctl docker-compose podman-compose"
	mounters   = "devcontainer ddev lando sail"
)

// pythons are programs that use the packages of the Python that PATH finds, and pythonManagers those that have one of
// their own.
const (
	pythons        = "python py pytest py.test coverage"
	pythonManagers = "poetry uv uvx pdm pipenv hatch pipx conda tox nox"
)

// gitTools are programs that use git, and gitFlags words with which others do. gitFiles may say that a build does.
const (
	gitTools = "husky pre-commit lefthook lint-staged commitlint git-cliff"
	gitFlags = "affected --changed --onlyChanged --changedSince"
	gitFiles = "pyproject.toml setup.py setup.cfg build.rs"
)

// fileFlags are flags before a file that says what a program does; folderFlags before the folder in which it works.
const (
	fileFlags   = "-f --file --makefile -c --config --rcfile -r --require --import --loader --rcfile --configuration"
	folderFlags = "-C --directory --prefix --cwd --dir --project-directory"
)

// workNames are what programs of the work itself are mostly called, and workFolders where they are: an agent has to
// edit what a check runs there.
const (
	workNames   = "index main app server cli __main__"
	workFolders = "src lib app cmd"
)

// checkWords are parts of the names of scripts that tests run, and that are not the work: helpers, and more tests.
const checkWords = `t test spec check verify validate lint assert expect helper setup teardown fixture mock ci run build
	lib common env util script tool hack conf config prepare smoke e2e integration unit all`
