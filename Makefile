# make test    all that needs no client
# make lint    gofmt, go vet for three systems, staticcheck, govulncheck, shellcheck where there is one
# make fuzz    every fuzz target for FUZZTIME, 30s where nothing is said
# make e2e     the real Claude Code client against a scripted model
# make faults  what breaks under the hook, and the figures of docs/RELIABILITY.md; SHORT=1 in a minute or two, RUN=Name for one
# make demo    a loop from init to COMPLETE, to look at
# make picture docs/*.svg, from runs of the demo and of the client
# make icon    the plugin's icon
# make test-windows  the same tests under Wine, as far as they are for Windows; as root in Debian
# make release-dry  all that a release is made of, in dist; nothing is published; needs node and jq
# make bench   docs/BENCHMARKS.md and docs/bench.svg, in some minutes; on a quiet machine

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0

# What makes a release. Later versions need a later Go, or modules that the module proxy does not have.
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.15.0
SYFT = github.com/anchore/syft/cmd/syft@v1.54.1
TOOLS = $(CURDIR)/bin/tools

# Each program is a folder below cmd.
PROGRAMS = ralph-stop-hook
COMMANDS = $(PROGRAMS:%=./cmd/%)
# .goreleaser.yaml builds with the same flags.
BUILD = -ldflags '-s -w$(if $(VERSION), -X main.version=$(VERSION))'

export CGO_ENABLED = 0
export GOFLAGS += -trimpath

.PHONY: build test lint fuzz bench e2e faults demo picture icon install release release-dry release-tools test-windows clean

build:
	go build $(BUILD) -o bin/ $(COMMANDS)

install:
	go install $(BUILD) $(COMMANDS)

test:
	go test ./...

test-windows:
	.ci/windows

lint:
	@out=$$(gofmt -s -l .); if [ -n "$$out" ]; then echo "not gofmt -s clean:"; echo "$$out"; exit 1; fi
	go mod tidy -diff
	GOOS=linux go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	GOOS=linux go build -o /dev/null $(COMMANDS)
	GOOS=darwin go build -o /dev/null $(COMMANDS)
	GOOS=windows go build -o /dev/null $(COMMANDS)
	go vet -tags e2e ./e2e
	GOOS=linux go vet -tags faults ./faults
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags e2e ./e2e
	GOOS=linux go run $(STATICCHECK) -tags faults ./faults
	.ci/govulncheck $(GOVULNCHECK)
	@if command -v shellcheck >/dev/null; then shellcheck -s sh hooks/run.cmd; fi

fuzz:
	.ci/fuzz

e2e:
	.ci/e2e

# A part of it is no figure for the document. Much of the time is waited, so more than one a processor runs.
FIGURES = $(if $(SHORT),,-figures ../docs/RELIABILITY.md)

faults:
	cd faults && go test -tags faults -count=1 -parallel 4 -timeout 30m $(if $(SHORT),-short) $(if $(RUN),-run '^Test$(RUN)$$') $(if $(SEED),-seed $(SEED)) $(FIGURES)

demo:
	@go run ./examples/demo

picture:
	go run ./examples/demo -color > demo.txt
	e2e/install.sh
	go test -tags e2e -count=1 -run '^TestScripts$$/^picture$$' ./e2e -pictures '$(CURDIR)'
	go run ./docs/picture -title 'make demo' < demo.txt > docs/demo.svg
	go run ./docs/picture -title 'Claude Code' < client.txt > docs/client.svg
	go run ./docs/picture -title 'ralph-stop-hook status' < status.txt > docs/status.svg
	rm demo.txt client.txt status.txt

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

release-dry: release-tools
	goreleaser release --snapshot --clean
	node npm/pack.js

# Of the tag that is checked out, on GitHub; what is in dist/npm is for npm publish.
release: release-tools
	goreleaser release --clean
	node npm/pack.js

clean:
	rm -rf bin dist .release e2e/.client
