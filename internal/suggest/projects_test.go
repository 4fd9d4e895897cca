package suggest

// projects are ordinary projects.
var projects = map[string]string{
	"empty": `npm test
-- want --
`,
	"options of a shell": `bash -euo pipefail v.sh; bash -o pipefail -c 'sh w.sh'
-- v.sh --
-- w.sh --
-- want --
protect: v.sh w.sh
`,
	"jest": `npm test
-- package.json --
{"scripts": {"test": "jest --ci", "build": "tsc"}, "jest": {"testEnvironment": "node"}}
-- .gitignore --
node_modules
coverage/
dist
-- src/sum.js --
-- src/sum.test.js --
-- src/__snapshots__/sum.test.js.snap --
-- node_modules/jest/package.json --
{"scripts": {"test": "x"}}
-- want --
protect: **/__snapshots__/** **/*.{test,spec,cy}.{js,jsx,ts,tsx,mjs,mts} package.json#scripts +.npmrc +jest.config.*
  package.json#jest
outputs: dist coverage
`,
	"vitest": `npx vitest run && npx eslint . && npm run types
-- package.json --
{"scripts": {"test": "vitest", "types": "tsc --noEmit"}}
-- .gitignore --
node_modules
dist
*.tsbuildinfo
-- vite.config.ts --
-- tsconfig.json --
-- eslint.config.js --
-- tests/a.test.ts --
-- tests/setup.ts --
-- src/a.ts --
-- want --
protect: tests/** +vitest.config.* +vitest.workspace.* +vite.config.* +eslint.config.* +.eslintrc*
  package.json#scripts +.npmrc +tsconfig*.json
outputs: dist
`,
	"pnpm monorepo": `pnpm -r test
-- package.json --
{"private": true, "scripts": {"build": "turbo build"}}
-- pnpm-workspace.yaml --
packages: [packages/*]
-- .gitignore --
node_modules
dist
-- packages/a/package.json --
{"scripts": {"test": "vitest run"}}
-- packages/a/src/a.test.ts --
-- packages/a/vitest.config.ts --
-- packages/b/package.json --
{"scripts": {"test": "vitest run"}}
-- packages/b/test/b.ts --
-- want --
protect: */*/test/** **/*.{test,spec,cy}.{js,jsx,ts,tsx,mjs,mts} **/package.json#scripts +.npmrc +**/vitest.config.*
  +**/vitest.workspace.*
outputs: **/dist
`,
	"pytest": `pytest -q
-- pyproject.toml --
[build-system]
requires = ["setuptools", "setuptools_scm"]
-- .gitignore --
__pycache__
.venv
htmlcov
.coverage
-- app/__init__.py --
-- tests/test_app.py --
-- tests/conftest.py --
-- want --
protect: tests/** +**/conftest.py +pytest.{ini,toml} +.pytest.{ini,toml} +tox.ini
outputs: htmlcov .coverage
git: true
`,
	"uv": `uv run pytest && uv run ruff check .
-- pyproject.toml --
-- uv.lock --
-- .venv/.gitignore --
*
-- .venv/lib/python3.13/site-packages/_app.pth --
TOP/src
-- src/app/a.py --
-- src/app/test_a.py --
-- ruff.toml --
-- want --
protect: **/test_*.py +**/conftest.py +pytest.{ini,toml} +.pytest.{ini,toml} +tox.ini +ruff.toml +.ruff.toml
outputs: .venv
prepare: uv sync <- pyproject.toml uv.lock
`,
	"cargo": `cargo test && cargo clippy -- -D warnings
-- Cargo.toml --
-- .gitignore --
/target
-- src/lib.rs --
-- tests/it.rs --
-- clippy.toml --
-- want --
protect: tests/** +.cargo/** +**/build.rs +rust-toolchain* clippy.toml
outputs: target
`,
	"go": `go vet ./... && go test ./...
golangci-lint run
-- go.mod --
module x
-- a.go --
-- a_test.go --
-- internal/b/testdata/in.txt --
-- want --
protect: **/testdata/** **/*_test.go +.golangci.*
`,
	"make and a script": `make test
-- Makefile --
PYTHON ?= python3
build:
	go build -o bin/app
lint:
	golangci-lint run
test: build prepare
	@./scripts/check.sh --all
	$(PYTHON) tools/verify.py
.PHONY: prepare
prepare: ; ./scripts/prepare
deploy:
	./scripts/deploy.sh
-- scripts/check.sh --
#!/bin/bash
set -e
DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$DIR/lib.sh" # help
cd "$DIR/.."
bash "scripts/more.sh" >out.txt
-- scripts/lib.sh --
diff a b
-- scripts/more.sh --
go test ./...
-- scripts/prepare --
#!/bin/sh
-- scripts/deploy.sh --
-- out.txt --
-- tools/verify.py --
subprocess.run(["git", "diff"])
-- go.mod --
module x
-- a_test.go --
-- .gitignore --
/bin/
-- want --
protect: **/*_test.go scripts/check.sh tools/verify.py scripts/prepare scripts/lib.sh scripts/more.sh +GNUmakefile
  +makefile +Makefile
outputs: bin
git: true
`,
	"recursive make": `make check
-- Makefile --
include mk/common.mk
check:
	$(MAKE) -C sub test
	cd other && make
-- mk/common.mk --
X = 1
-- sub/Makefile --
test: test-unit
lint:
	golangci-lint run
test-unit:
	timeout 60s sh ./run.sh # and not more
-- go.mod --
-- sub/run.sh --
echo
-- other/Makefile --
all:
	true
-- want --
protect: mk/common.mk sub/run.sh +**/GNUmakefile +**/makefile +**/Makefile +**/*.mk
`,
	"maven": `./mvnw -q verify
-- mvnw --
#!/bin/sh
exec java -jar .mvn/wrapper/maven-wrapper.jar "$@"
-- pom.xml --
-- core/pom.xml --
-- .gitignore --
target/
-- src/test/java/ATest.java --
-- core/src/test/java/BTest.java --
-- core/src/main/java/B.java --
-- want --
protect: **/src/test/** mvnw +.mvn/**
outputs: **/target
`,
	"gradle": `./gradlew test
-- gradlew --
#!/bin/sh
exec java -cp gradle/wrapper/gradle-wrapper.jar "$@"
-- build.gradle.kts --
-- settings.gradle.kts --
-- gradle/wrapper/gradle-wrapper.properties --
-- gradle/libs.versions.toml --
-- .gitignore --
build
.gradle
-- src/test/kotlin/ATest.kt --
-- want --
protect: src/test/** gradlew +gradle.properties +gradle/wrapper/**
outputs: build .gradle
`,
	"rails": `bin/rails test && bundle exec rubocop
-- Gemfile --
-- Rakefile --
-- bin/rails --
#!/usr/bin/env ruby
-- .gitignore --
/log/*
/tmp/*
!/log/.keep
/public/assets
-- test/models/a_test.rb --
-- .rubocop.yml --
-- lib/tasks/x.rake --
-- app/models/a.rb --
-- want --
protect: test/** bin/rails +Rakefile +**/*.rake +.rspec +.rubocop*.yml
outputs: tmp log public/assets
`,
	"composer": `composer test
-- composer.json --
{"scripts": {"test": ["@lint", "phpunit --colors"], "lint": "phpstan analyse"}}
-- composer.lock --
-- phpstan.neon --
-- phpunit.xml.dist --
-- .gitignore --
/vendor
/build
-- vendor/composer/autoload_real.php --
-- tests/ATest.php --
-- src/A.php --
-- want --
protect: tests/** composer.json#scripts +phpunit.xml* +phpstan*.neon*
outputs: vendor build
prepare: composer install <- composer.json composer.lock
`,
	"cmake": `cmake --build build && ctest --test-dir build
-- CMakeLists.txt --
-- cmake/x.cmake --
-- .gitignore --
build/
-- build/CMakeCache.txt --
CMAKE_HOME_DIRECTORY:INTERNAL=TOP
-- tests/a.cpp --
-- want --
protect: tests/** +CMakeUserPresets.json +**/*.cmake
outputs: build
prepare: cmake -B build <- CMakeLists.txt
`,
	"cmake configures": `cmake -S . -B build && cmake --build build && ctest --test-dir build
-- CMakeLists.txt --
-- .gitignore --
build/
-- build/CMakeCache.txt --
-- want --
protect: +CMakeUserPresets.json
outputs: build
`,
	"cmake, to be configured": `cmake --build out/debug && ctest --test-dir=x --test-dir out/debug
-- CMakeLists.txt --
-- .gitignore --
/out/
-- .git/HEAD --
-- want --
protect: +CMakeUserPresets.json
outputs: out/debug out
prepare: cmake -B out/debug <- CMakeLists.txt
`,
	"cmake in the sources": `make && ./shop
-- CMakeLists.txt --
-- .gitignore --
CMakeCache.txt
CMakeFiles/
Makefile
-- .git/HEAD --
-- CMakeCache.txt --
-- CMakeFiles/x --
-- Makefile --
all:
	cmake -S. -B.
-- src/Makefile --
-- want --
protect: +CMakeUserPresets.json
outputs: **/CMakeCache.txt **/CMakeFiles **/Makefile
prepare: cmake . <- CMakeLists.txt
`,
	"autoconf": `make check
-- configure --
-- configure.ac --
-- Makefile.in --
-- src/config.h.in --
-- .gitignore --
config.status
config.log
Makefile
config.h
*.o
-- config.status --
-- config.log --
-- Makefile --
check:
	./t
-- src/config.h --
-- src/a.o --
-- want --
outputs: **/Makefile **/config.log **/config.status **/config.h
prepare: ./configure <- configure configure.ac Makefile.in
`,
	"meson": `ninja -C build test
-- meson.build --
-- .gitignore --
build
-- build/meson-private/coredata.dat --
-- want --
outputs: build
prepare: meson setup build <- meson.build
`,
	"yarn with Plug'n'Play": `yarn test
-- package.json --
{"scripts": {"test": "node test.js"}}
-- yarn.lock --
-- .gitignore --
.pnp.*
.yarn/*
-- .pnp.cjs --
-- .yarn/install-state.gz --
-- .yarn/cache/x --
-- test.js --
-- want --
protect: test.js package.json#scripts +.yarnrc*
outputs: **/.pnp.cjs **/install-state.gz
prepare: yarn install <- package.json yarn.lock
`,
	"composer before its first install": `cd api && vendor/bin/phpunit
-- api/composer.json --
{}
-- api/.gitignore --
/vendor/
-- api/tests/ATest.php --
-- want --
protect: **/tests/** +api/phpunit.xml*
outputs: api/vendor
prepare: cd api && composer install <- api/composer.json
`,
	"composer, and packages that git has": `composer test
-- composer.json --
{"scripts": {"test": "php t.php"}}
-- t.php --
-- vendor/autoload.php --
-- want --
protect: t.php composer.json#scripts
`,
	"uv before its first sync": `uv run pytest
-- pyproject.toml --
-- uv.lock --
-- tests/test_a.py --
-- want --
protect: tests/** +**/conftest.py +pytest.{ini,toml} +.pytest.{ini,toml} +tox.ini
outputs: .venv
prepare: uv sync <- pyproject.toml uv.lock
`,
	"poetry, pipenv and pdm with environments elsewhere": `cd a && poetry run pytest
cd b && pipenv run pytest
cd c && pdm run pytest
cd d && poetry run pytest
cd e && poetry run pytest
-- .gitignore --
.venv
.pdm-python
-- a/pyproject.toml --
-- a/poetry.lock --
-- a/tests/test_a.py --
-- b/Pipfile --
-- c/pyproject.toml --
-- d/pyproject.toml --
-- d/.venv/bin/pytest --
-- e/pyproject.toml --
-- want --
protect: **/tests/** +**/conftest.py +**/pytest.{ini,toml} +**/.pytest.{ini,toml} +**/tox.ini
outputs: c/.pdm-python
prepare: cd a && poetry install <- a/pyproject.toml a/poetry.lock
prepare: cd e && poetry install <- e/pyproject.toml
prepare: cd b && pipenv install --dev <- b/Pipfile
prepare: cd c && pdm install <- c/pyproject.toml
`,
	"packages on the machine": `pytest -q
poetry run pytest
.venv/bin/python -m pytest
make test
npm test
sites SITE
-- SITE/__editable__.shop.pth --
TOP/src
-- Makefile --
test:
	python3 -m unittest
-- src/shop.py --
-- tests/test_shop.py --
-- want --
protect: tests/** +**/conftest.py +pytest.{ini,toml} +.pytest.{ini,toml} +tox.ini +GNUmakefile +makefile +Makefile
in project: 0 3
`,
	"outputs that come later": `bazel test //... && nx test
-- package.json --
{}
-- .gitignore --
bazel-*
.nx
-- want --
protect: +.bazelrc
outputs: bazel-* .nx
`,
	"just": `just test
-- justfile --
test:
    cargo nextest run
-- Cargo.toml --
-- tests/a.rs --
-- want --
protect: tests/** +justfile +Justfile +.justfile +.cargo/** +**/build.rs +rust-toolchain*
outputs: target
`,
	"taskfile": `task test
-- Taskfile.yml --
version: '3'
tasks:
  test:
    deps: [lint]
    cmds:
      - go test ./...
      - cmd: ./check.sh
-- check.sh --
-- go.mod --
-- a_test.go --
-- want --
protect: **/*_test.go check.sh +[Tt]askfile.{yml,yaml}
`,
	"shell script": `sh verify.sh
test -f README.md
-- verify.sh --
grep -q done README.md
./run.sh | diff - want.txt
-- run.sh --
python3 main.py
-- main.py --
-- want --
protect: verify.sh run.sh
`,
	"docker compose": `docker compose exec -T app pytest
docker compose -f ci.yml run app
docker build .
-- compose.yml --
services:
  app:
    volumes:
      - .:/app
-- Dockerfile --
-- app.py --
-- test_app.py --
-- want --
protect: **/test_*.py +{docker-,}compose*.y*ml +Dockerfile* +**/conftest.py +pytest.{ini,toml} +.pytest.{ini,toml}
  +tox.ini
in project: 0 1
`,
	"pre-commit": `pre-commit run --all-files
-- .pre-commit-config.yaml --
repos:
- repo: local
  hooks:
  - id: x
    entry: ./hooks/check.sh
-- hooks/check.sh --
true
-- want --
protect: hooks/check.sh +.pre-commit-config.yaml
git: true
`,
	"no tests": `go build ./... && golangci-lint run
-- go.mod --
-- a.go --
-- a_test.go --
-- want --
protect: +.golangci.*
`,
	"pip and poetry": `cd api && ../.venv/bin/pytest
-- .venv/lib/python3.12/site-packages/app-1.0.dist-info/direct_url.json --
{"dir_info": {"editable": true}, "url": "file://TOP"}
-- requirements.txt --
-- setup.py --
-- api/poetry.lock --
-- api/pyproject.toml --
-- api/test_a.py --
-- api/.venv/lib/python3.12/site-packages/__editable___app_finder.py --
MAPPING = {'app': 'TOP/api/app'}
-- other/venv/lib/python3.12/site-packages/own.pth --
TOP/other/venv/lib/x
-- want --
protect: **/test_*.py +api/**/conftest.py +api/pytest.{ini,toml} +api/.pytest.{ini,toml} +api/tox.ini
outputs: .venv api/.venv
prepare: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt -e . <- setup.py requirements.txt
prepare: cd api && POETRY_VIRTUALENVS_IN_PROJECT=true poetry install <- api/pyproject.toml api/poetry.lock
`,
	"laravel": `php artisan test
-- composer.json --
-- artisan --
#!/usr/bin/env php
-- tests/Feature/ATest.php --
-- .gitignore --
/.phpunit.cache
-- want --
protect: tests/** artisan +phpunit.xml*
outputs: .phpunit.cache
`,
	"the work that a script tests": `sh test.sh
-- test.sh --
. lib/assert.sh
test "$(sh src/shop.sh)" = 119
-- lib/assert.sh --
-- src/shop.sh --
. ./lib/tax.sh
-- lib/tax.sh --
-- want --
protect: test.sh lib/assert.sh
`,
	"values that a script compares": `sh verify.sh
-- verify.sh --
test "$(git diff --cached --name-only)" = a.txt
test "$(cat docs/b.txt)" != docs/c.txt
d.txt
-- a.txt --
-- d.txt --
-- docs/b.txt --
-- docs/c.txt --
-- want --
protect: verify.sh
git: true
`,
	"what a script compares": `sh verify.sh
-- verify.sh --
. ./lib.sh
if [ "$(sh shop.sh 100)" = 119 ] && ! test 0 = "$(./shop.sh 0 | wc -l)"; then
	sh check-after.sh && ./bin/greet
fi
-- lib.sh --
-- shop.sh --
-- bin/greet --
-- check-after.sh --
-- want --
protect: verify.sh lib.sh check-after.sh
`,
	"what a check compares": `sh hello.sh | grep -q hello && make greet
-- hello.sh --
-- Makefile --
greet:
	@./deploy.sh
	@tests/greet.sh
-- deploy.sh --
-- tests/greet.sh --
-- want --
protect: tests/** +GNUmakefile +makefile +Makefile
`,
	"scripts that are not run": `sh -n src/shop.sh && bash -n deploy.sh; node --check a.js
-- src/shop.sh --
-- deploy.sh --
-- a.js --
-- want --
`,
	"options with values": `node -r ./setup.js t.js
-- setup.js --
-- t.js --
-- want --
protect: t.js setup.js
`,
	"the work itself": `python3 main.py | diff - expected.txt
node src/cli.js --check; sh lib/check.sh; cd /etc && ./a.sh
-- main.py --
-- src/cli.js --
-- lib/check.sh --
-- a.sh --
-- want --
protect: lib/check.sh a.sh
`,
	"many scripts": `sh ci/a.sh; sh ci/b.sh; sh ci/c.sh; sh ci/d.sh; sh ci/e.sh; sh ci/f.sh; make -f ci/g.mk lint
-- ci/a.sh --
-- ci/b.sh --
-- ci/c.sh --
-- ci/d.sh --
-- ci/e.sh --
-- ci/f.sh --
-- ci/g.mk --
lint:
	ruff check .
-- want --
protect: ci/**
`,
	"a repository that ignores nothing": `cargo test
-- .git/HEAD --
-- Cargo.toml --
-- target/debug/x --
-- want --
protect: +.cargo/** +**/build.rs +rust-toolchain*
`,
	"a folder below": `in web
npm test
../tools/check.sh
-- .gitignore --
dist
-- tools/check.sh --
cd "$(git rev-parse --show-toplevel)/web" && node check.js
-- web/package.json --
{"scripts": {"test": "mocha"}}
-- web/check.js --
-- web/test/a.js --
-- test/b.js --
-- want --
protect: test/** check.js package.json#scripts +.npmrc +.mocharc*
outputs: dist
git: true
`,
}
