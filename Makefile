# `make help` lists what there is.
SHELL := bash
.DEFAULT_GOAL := help
CARGO ?= cargo
# Where `make run` keeps its sample and its chats, and which build it serves: quick, release, dist or debug.
DEMO ?= target/demo
BUILD ?= quick
# Of `install` and `deb`: what is installed, and where.
BINARY ?= target/dist/planwright
PREFIX ?= /usr/local
INSTALL = BINARY='$(BINARY)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install

# A build on a CI machine is the only one of its folder, so notes for the next one would be in vain.
ifdef CI
export CARGO_INCREMENTAL = 0
endif

.PHONY: help run test lint web bench bench-web screenshots pictures torture real-model docs install uninstall deb

help: ## List the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: ## Build, and serve the sample workspace with the demo model; prints the address to open
	@scripts/need bwrap node npm
	@scripts/web
	$(CARGO) build --profile $(BUILD:debug=dev) --package planwright
	@mkdir -p $(DEMO)
	@if [ ! -d $(DEMO)/greeter ]; then cp -r samples/greeter $(DEMO)/greeter; echo "The sample workspace is in $(DEMO)/greeter; delete that folder to begin anew."; fi
	target/$(BUILD)/planwright serve --workspace $(DEMO)/greeter --data-dir $(DEMO)/data --model demo/demo --listen $${LISTEN:-127.0.0.1:7420}

test: web lint ## Everything: formatting, lints, rules of the project, all tests, the API against its description, editors, the web UI in a browser
	@scripts/need node npm chromium strace initdb nats-server bwrap pytest-3 python3 groff jq curl git
	@scripts/mcp-servers
	scripts/rust-tests --no-run
	@scripts/side-by-side scripts/rust-tests scripts/browser scripts/schemathesis scripts/editors

web: ## The web UI, into web/dist, from where the binary takes it
	@scripts/need node npm
	@scripts/web

lint: ## Formatting, clippy, licences, bans and advisories of the dependencies; hooks, import zones and dead exports of the web UI
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- --deny warnings
	@scripts/deny
	@scripts/advisories
	@scripts/web
	cd web && npm run --silent lint

bench: ## Speed, as ratios against a reference in the same run
	@scripts/need rg bwrap node
	$(CARGO) bench --workspace --bench '*'

bench-web: web ## The web UI: bytes and DOM nodes as gates, times as a report
	@scripts/need chromium
	$(CARGO) build --package planwright
	cd web && node --test scripts/bench.mjs

screenshots: web ## Pictures of each view, into docs/screenshots
	@scripts/need chromium fc-list
	@fc-list :lang=zh | grep -q . || scripts/need fonts-noto-cjk
	$(CARGO) build --package planwright
	cd web && node --test scripts/screenshots.mjs

pictures: web ## Renew the pictures that the browser tests compare pages with, in web/tests/pictures
	@scripts/need chromium fc-match
	$(CARGO) build --package planwright
	cd web && PICTURES=renew node --test tests/pictures.test.mjs

torture: ## The long versions of the tests: races, random calls, kills, mutations of the gate
	scripts/mutants
	PLANWRIGHT_RACE_TRIES=1000000 PLANWRIGHT_PROPERTY_CALLS=10000000 $(CARGO) test --release --package planwright-tools --test it -- --nocapture
	PLANWRIGHT_MODE_FLIPS=1000 $(CARGO) test --package planwright-chat --test it -- --nocapture
	PLANWRIGHT_CRASH_ROUNDS=20 PLANWRIGHT_RANDOM_KILLS=200 PLANWRIGHT_CRASH_ROUNDS_POSTGRES=2 PLANWRIGHT_RANDOM_KILLS_POSTGRES=20 $(CARGO) test --package planwright --test it kills:: -- --nocapture
	PLANWRIGHT_DISCONNECTS=1000 $(CARGO) test --package planwright --test it events:: -- --nocapture
	PLANWRIGHT_SMALL_FRAGMENTS=1 $(CARGO) test --package planwright --test it hostile_replies:: -- --nocapture
	PLANWRIGHT_REVERT_LIVES=200 $(CARGO) test --package planwright --test it revert_property:: -- --nocapture

real-model: ## The tests against a real model: llama.cpp with SmolLM2, 120 MB to download once
	@scripts/need python3 curl
	scripts/real-model

docs: ## The guide, into target/guide, and the Rust documentation, into target/doc
	@scripts/guide
	RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" $(CARGO) doc --workspace --no-deps --document-private-items

install: $(BINARY) ## Build and install: program, manual pages, completions, systemd user unit; PREFIX (/usr/local) and DESTDIR say where
	@$(INSTALL)

uninstall: ## Take away what install put there; chats and configuration stay
	@$(INSTALL) remove

deb: $(BINARY) ## A Debian package, into target/debian
	@scripts/need dpkg-deb
	@BINARY='$(BINARY)' scripts/deb

# Always asked for: cargo knows whether there is anything to do.
target/dist/planwright: web always
	$(CARGO) build --profile dist --package planwright

.PHONY: always
always:
