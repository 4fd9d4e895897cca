# make build         builds the programs into bin
# make install       installs them into Go's bin folder
# make test          runs the tests that need no client, some of them in a shorter form; WHOLE=1 shortens none
# make race          runs the tests with the race detector; needs a C compiler
# make lint          runs gofmt, go vet for three systems, staticcheck, govulncheck, and shellcheck if it is installed;
#                    finds lines of over 120 columns, and functions that the fault tests break and that are gone
# make fuzz          runs each fuzz target for FUZZTIME, by default 30s
# make e2e           runs the real clients against a scripted model: all scripts with Claude Code, one with the other
#                    agents; AGENTS=all runs all with each, AGENTS="codex gemini" all of these
# make browser       opens the page of ralph-runner serve in chromium; PICTURES=DIR draws the pictures of the documents
# make faults        runs in full what make test shortens, then tests the hook and the runner with faults and updates
#                    docs/assurance/RELIABILITY.md in a few hours; SHORT=1 has only the faults, for some minutes, RUN=Name runs
#                    one test
# make mutations     breaks each promise of the documents in the product, and sees its test fail; RUN=regexp tries the
#                    promises that it matches
# make demo          shows a loop from init to COMPLETE
# make demo-runner   shows a run of ralph-runner from init to COMPLETE
# make picture       draws docs/*.svg from runs of the demo and of the client
# make icon          draws the plugin's icon
# make test-windows  runs the tests for Windows under Wine; needs root in Debian
# make release-dry   makes a release in dist and publishes nothing; needs node and jq
# make release       publishes the tag that is checked out
# make bench         updates docs/assurance/BENCHMARKS.md and docs/assurance/bench.svg in half an hour or so; needs a quiet machine

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0

# These make a release. Later versions need a later Go, or modules that the module proxy does not have.
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.15.0
SYFT = github.com/anchore/syft/cmd/syft@v1.54.1
TOOLS = $(CURDIR)/bin/tools

# Each program is a folder below cmd.
PROGRAMS = ralph-stop-hook ralph-runner
COMMANDS = $(PROGRAMS:%=./cmd/%)
# .goreleaser.yaml builds with the same flags.
BUILD = -ldflags '-s -w$(if $(VERSION), -X main.version=$(VERSION))'

export CGO_ENABLED = 0
export GOFLAGS += -trimpath

.PHONY: build test race lint fuzz bench e2e browser faults mutations demo demo-runner picture icon install
.PHONY: release release-dry release-tools test-windows clean

build:
	go build $(BUILD) -o bin/ $(COMMANDS)

install:
	go install $(BUILD) $(COMMANDS)

# Many tests mostly wait, so four packages run at once, and four tests of each. A slow machine needs more than the ten
# minutes that go gives a package. `make lint` runs vet.
test:
	TMPDIR=$$(.ci/memory) go test -vet=off $(if $(WHOLE),,-short) -p 4 -parallel 4 -timeout 30m ./...

# The detector makes a program about five times slower, and a test may take a package's time alone.
race:
	TMPDIR=$$(.ci/memory) CGO_ENABLED=1 go test -race -short -p 1 -timeout 30m ./...

test-windows:
	.ci/windows

lint:
	@out=$$(gofmt -s -l .); if [ -n "$$out" ]; then echo "not gofmt -s clean:"; echo "$$out"; exit 1; fi
	@if LC_ALL=C.UTF-8 grep -rnE --include='*.go' '^.{121}' .; then echo "these lines have over 120 columns"; exit 1; fi
	go mod tidy -diff
	GOOS=linux go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	GOOS=linux go build -o /dev/null $(COMMANDS)
	GOOS=darwin go build -o /dev/null $(COMMANDS)
	GOOS=windows go build -o /dev/null $(COMMANDS)
	go vet -tags e2e ./e2e
	go vet -tags browser ./browser
	GOOS=linux go vet -tags faults ./faults
	go test -tags faults -vet=off -run '^TestPrograms$$' ./faults
	go vet -tags mutations ./mutations
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags e2e ./e2e
	go run $(STATICCHECK) -tags browser ./browser
	GOOS=linux go run $(STATICCHECK) -tags faults ./faults
	go run $(STATICCHECK) -tags mutations ./mutations
	.ci/govulncheck $(GOVULNCHECK)
	@if command -v shellcheck >/dev/null; then \
		shellcheck .ci/* release/prepare e2e/install.sh e2e/install-mcp.sh && shellcheck -s sh hooks/run.cmd hooks/mcp.cmd; fi

fuzz:
	.ci/fuzz

e2e:
	AGENTS='$(AGENTS)' CLAUDES='$(CLAUDES)' .ci/e2e

browser:
	.ci/browser

# A short run does not update the document. The tests mostly wait, so four run at once.
FIGURES = $(if $(SHORT),,-figures ../docs/assurance/RELIABILITY.md)

# The packages whose tests have a shorter form.
LONG = $(shell grep -rl --include='*_test.go' 'testing\.Short()' ./cmd ./internal ./docs | xargs -n1 dirname | sort -u)

faults:
	$(if $(SHORT),,TMPDIR=$$(.ci/memory) go test -count=1 -parallel 4 $(if $(RUN),-run '^Test$(RUN)$$') $(LONG))
	cd faults && go test -tags faults -count=1 -parallel 4 -timeout 8h \
		$(if $(SHORT),-short) $(if $(RUN),-run '^Test$(RUN)$$') $(if $(SEED),-seed $(SEED)) $(FIGURES)

# One promise is broken at a time, since a test may also fail because others keep it waiting.
mutations:
	TMPDIR=$$(.ci/memory) go test -tags mutations -count=1 -timeout 2h \
		$(if $(RUN),-run '^TestMutations$$/$(RUN)') ./mutations

demo:
	@go run ./examples/demo

demo-runner:
	@go run ./examples/demo -runner

picture:
	go run ./examples/demo -color > demo.txt
	go run ./examples/demo -runner -color > runner.txt
	e2e/install.sh
	go test -tags e2e -count=1 -run '^TestScripts$$/^picture$$' ./e2e -pictures '$(CURDIR)'
	go run ./docs/picture -title 'make demo' < demo.txt > docs/demo.svg
	go run ./docs/picture -title 'make demo-runner' < runner.txt > docs/runner.svg
	go run ./docs/picture -title 'Claude Code' < client.txt > docs/client.svg
	go run ./docs/picture -title 'ralph-stop-hook status' < status.txt > docs/status.svg
	rm demo.txt runner.txt client.txt status.txt
	go test -tags browser -count=1 -run '^TestDrawings$$' ./browser

icon:
	go run ./docs/icon > .claude-plugin/icon.png.new
	mv .claude-plugin/icon.png.new .claude-plugin/icon.png

bench:
	go run ./bench

release release-dry: export PATH := $(TOOLS):$(PATH)

# The first build of both takes some minutes.
release-tools:
	GOBIN=$(TOOLS) go install $(GORELEASER)
	GOBIN=$(TOOLS) go install $(SYFT)

# An archive lists the programs in the order in which their builds end, so there is one build at a time.
GORELEASE = goreleaser release --clean --parallelism 1

release-dry: release-tools
	$(GORELEASE) --snapshot
	node npm/pack.js

# This publishes on GitHub. The release workflow then publishes dist/npm with npm.
release: release-tools
	$(GORELEASE)
	node npm/pack.js

clean:
	rm -rf bin dist .release e2e/.client
