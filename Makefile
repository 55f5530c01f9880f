# Everything that people and CI do with this tree. `make` prints what there is.

PACKAGES = $(shell go list -m -f '{{.Dir}}/...' | sort)
# What others can import or install.
SEEN = $(shell sh scripts/seen.sh)
FUZZTIME ?= 20s
# Packages tested at once. Tests of locks wait for most of their time, so three more than there are cores, and beside
# these two of a second group: see internal/runtests.
ATONCE = $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 3)))
# The long tests are few packages that keep the processor busy.
ATONCE_LONG = $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
# Nothing skips where HOLDFAST_NO_SKIP is set: a missing server fails the test that needs it. With "all", which the gate
# sets, that goes for what comes from another registry than Go's, too.
# The race detector would have each program wait for a second before it ends.
REAL := HOLDFAST_NO_SKIP=$(or $(HOLDFAST_NO_SKIP),1) GORACE=atexit_sleep_ms=0

# Programs of tests are linked in each run; without what debuggers read that takes two thirds of the time. Garbage is
# collected less often, up to a bound, which takes 10 to 30% less of the processor.
RUNTESTS = go build -o bin/runtests ./internal/runtests && $(REAL) GOGC=400 GOMEMLIMIT=2GiB \
	bin/runtests -vet=off -ldflags=-s

.DEFAULT_GOAL := help
.PHONY: help sizes surface picture site tidy tags release build servers servers-extra test test-long test-extra test-race lint lab bench speed fuzz mutants proof soak clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/holdfast
	CGO_ENABLED=0 go build -tags grpcnotrace -o bin/holdfast ./cmd/holdfast

servers: ## install the servers that the tests need (Debian, as root or with sudo)
	@sh scripts/servers.sh

servers-extra: ## unpack other versions of servers beside the system (Debian), for test-extra: VERSIONS, or all
	@sh scripts/servers-extra.sh $(VERSIONS)

test: servers ## install what is missing, prove each promise once on every engine, and say how far it is
	@echo "testing on real servers: about eight minutes on two quiet cores, and twelve with compiling the first time"
	@$(RUNTESTS) -p $(ATONCE) -timeout 30m -- $(PACKAGES)

test-long: servers ## the drivers again, with the race detector; more layouts and faults; what is released
	@echo "the long tests, on real servers, with the race detector: about ten minutes on two quiet cores"
	@$(RUNTESTS) -long -p $(ATONCE_LONG) -timeout 30m -- $(PACKAGES)

VERSIONS ?=

test-extra: servers ## test the drivers on each of VERSIONS, or on all in docs/versions.md that are not the usual ones: takes hours
	@go build -o bin/runtests ./internal/runtests
	@go build -o bin/testextra ./internal/testextra
	@$(REAL) bin/testextra -logs bin/extra -json bin/versions.json $(VERSIONS)

test-race: ## provoke races: tests that need no server, repeatedly, and on more threads than cores
	go test -race -count=3 -timeout 20m . ./driver/... ./memlock/...
	go test -count=3 -cpu 4,16 -timeout 20m . ./driver/... ./memlock/...

lint: ## gofmt, vet, staticcheck, types on macOS and Windows, and modules that are tidy
	@GOGC=400 GOMEMLIMIT=2GiB sh scripts/lint.sh

lab: servers ## see how textbook locks fail, with pages of pictures in bin/lab
	go run ./lab all --out bin/lab

bench: servers ## measure speed beside others, in one run on one server
	go run ./bench

speed: servers ## measure speed on every engine anew, and make docs/speed.md of what comes out
	go run ./bench -save
	go run ./bench -save -pin apart
	go run ./bench -save -pin together
	go run ./bench -page docs/speed.md

fuzz: ## fuzz each fuzz test for FUZZTIME (20s)
	@sh scripts/fuzz.sh $(FUZZTIME)

mutants: servers ## break each driver on purpose, and fail if its tests do not notice
	go run ./mutants

FOR ?= 5m
STORE ?=

proof: servers ## break the servers of each store for FOR (5m), or of STORE alone, and judge what processes saw
	@mkdir -p bin/proof
	@go test -c -o bin/proof.test ./systemtest/proof
	@cd systemtest/proof && $(REAL) ../../bin/proof.test -test.v -test.timeout 48h -test.run TestProof -proof.for $(FOR) \
		-proof.store "$(STORE)" -proof.out $(CURDIR)/bin/proof -proof.runs $(CURDIR)/bin/proof/runs.tsv \
		-proof.commit "$$(git describe --always --dirty --exclude '*')"

soak: servers ## age each store by a million names, results in bin/soak.json; and test with the long counts: takes hours
	@mkdir -p bin
	$(REAL) HOLDFAST_SOAK=1 HOLDFAST_SOAK_JSON=$(CURDIR)/bin/soak.json go test -timeout 3h -v ./systemtest/soak
	$(REAL) HOLDFAST_SOAK=1 go test -race -timeout 6h -v $(PACKAGES)

sizes: ## say what each engine adds to the command: builds it without each of them
	@sh scripts/sizes.sh

surface: ## write down the exported names and the dependencies anew, which lint compares
	@GOWORK=off go -C internal/devtools build -o "$(CURDIR)/bin/" ./surface
	@bin/surface write internal/devtools/surface $(SEEN)

picture: ## draw the moving picture of the README anew, from its transcript, and its badges
	@go test -count=1 ./internal/docs -run TestBadges -docs.badges
	@GOWORK=off go -C internal/devtools run ./terminal < docs/pictures/terminal.txt > docs/pictures/terminal.svg

site: ## make a site of the pages in bin/site, which is read without a server or a network
	@GOWORK=off go -C internal/devtools build -o "$(CURDIR)/bin/sitemaker" ./site
	@rm -rf bin/site
	@bin/sitemaker bin/site

tidy: ## tidy the go.mod and go.sum files, and tie our modules together in go.work
	@GOWORK=off go -C internal/devtools run ./tidy write

tags: ## check the release VERSION and show its commit and tags; with WRITE=1 make them, and print what to push
	@GOWORK=off go -C internal/devtools run ./release "$(VERSION)" $(if $(WRITE),--tag)

release: ## make the files of the release VERSION in bin/release: twice, and fail if their checksums differ
	@rm -rf bin/release bin/release.again
	@GOWORK=off go -C internal/devtools build -o "$(CURDIR)/bin/" ./artefacts
	@bin/artefacts "$(VERSION)" bin/release
	@bin/artefacts "$(VERSION)" bin/release.again
	@cmp bin/release/SHA256SUMS bin/release.again/SHA256SUMS
	@rm -rf bin/release.again
	@cat bin/release/SHA256SUMS

clean: ## remove what was built
	rm -rf bin
