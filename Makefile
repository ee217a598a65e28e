# make demo and make test are all a newcomer needs; both install what is missing.

.PHONY: help setup build demo drill test test-quick check documentation release install packages vectors wasm keystores interop pins acme stomp objects engines cluster network web fuzz models removals soak examples format bench clean

help:
	@echo 'make demo     build, then two people, a real server, and attacks that are blocked'
	@echo '              KEEP=folder leaves server and people there; UI=1 opens the pages of one of them at the end'
	@echo 'make drill    a dead disk, an old backup, a lost witness, stolen keys and what a Prometheus says of failures, with real processes'
	@echo 'make test     build, then every test'
	@echo 'make test-quick  the tests of Formats and Protocols alone'
	@echo 'make check    imports, names, documents and format; no build'
	@echo 'make documentation  the pages of every product, by DocC, in .build/documentation'
	@echo 'make release  programs, manual pages, completions and a bill of materials, as one archive'
	@echo 'make install  programs, manual pages and completions below PREFIX=/usr/local, from a release, which is built if there is none'
	@echo 'make packages a release as Debian packages and a container image, installed and run in a clean Debian'
	@echo 'make vectors  outside test vectors through signet-vectors'
	@echo 'make wasm     the verifier for browsers, as WebAssembly; its vectors, and native against WebAssembly'
	@echo 'make keystores the keystores on a keyring and a TPM of their own'
	@echo 'make interop  proofs, witnesses and cards across implementations: golang.org/x/mod, sd-jwt, jwcrypto, isomdoc, pymdoccbor;'
	@echo '              cards for wallets: openssl'
	@echo 'make pins     mitmproxy in between; openssl and curl on the same certificates; x509-limbo'
	@echo 'make acme     certificates of an ACME server renewed under a running signetd'
	@echo 'make stomp    one conformance suite: the broker of signetd and a real RabbitMQ'
	@echo 'make engines  the suites of the stores once more, on a real PostgreSQL'
	@echo 'make cluster  a PostgreSQL pair, an object store, a RabbitMQ, two sequencers, three front ends, and what happens when they are killed'
	@echo '              ROUNDS=20: so many fail-overs of each kind under load, and a control that loses; FAULTS=1: full disks, cut lines, clocks, restarts,'
	@echo '              older copies; SOAK=3600: so many seconds of load, and what each process and table takes; OLDER=folder: programs of a release'
	@echo '              before, from which and back to which every process is changed'
	@echo 'make objects  one conformance suite of object stores on a real gateway that speaks S3: radosgw of Ceph'
	@echo 'make network  one of two and of three is cut off a call for six seconds, in network namespaces'
	@echo 'make web      the pages of two people, the log explorer, the page of a card and a site in Chromium, light and dark, checked by axe; pictures in .build/web'
	@echo 'make fuzz     mutated inputs for every parser, 10,000,000 each: hours (RUNS=100000: minutes)'
	@echo 'make examples the packages of Examples from a clone, as an app would fetch it'
	@echo 'make models   what order and lies can do to recovery and directory: every interleaving, by spin'
	@echo 'make soak     honest people and ten attackers at a server that is killed each minute, for an hour'
	@echo 'make removals removes one check at a time; a test must fail for each: an hour and more'
	@echo 'make format   rewrite the sources in the one format'
	@echo 'make bench    benchmarks, as ratios, beside their peers, with one table of all at the end'
	@echo 'make setup    install what building needs (apt-get)'
	@echo 'make clean    remove what was built'

# With SIGNET_BUILT=1, after a build of everything, no step looks again at what there is to build.
building := $(if $(SIGNET_BUILT),@true,@Scripts/with-progress)

setup:
	@Scripts/setup

demo: setup
	$(building) 'Building' .build/demo-build.log swift build
	@Scripts/demo $(if $(KEEP),--keep '$(KEEP)') $(if $(UI),--ui)

drill: setup
	$(building) 'Building' .build/demo-build.log swift build
	@Scripts/drill
	@Scripts/alerts

build: setup
	$(building) 'Building with tests' .build/test-build.log swift build --build-tests $(BUILD_FLAGS)

# Swift Testing runs its tests in parallel by itself; suites that share a port or a disk are serialized. All two thousand at
# once hold a thousand files open and wait for each other's processor time; older tools have no such option.
width := --experimental-maximum-parallelization-width
test: build
	@Scripts/with-failures-last .build/test-run.log swift test --skip-build --disable-xctest \
	    $$(swift test --help-hidden | grep -q -e $(width) && echo $(width) 12)

# What needs no network, disk or clock: the quickest answer while working on formats and rules.
test-quick: setup
	@Scripts/with-progress 'Building Formats and Protocols' .build/core-build.log \
	    env SIGNET_CORE_ONLY=1 swift build --build-tests --scratch-path .build/core
	@SIGNET_CORE_ONLY=1 Scripts/with-failures-last .build/core-run.log \
	    swift test --skip-build --disable-xctest --scratch-path .build/core

check:
	@Scripts/check

documentation: build
	@Scripts/documentation

release: setup
	@Scripts/release

# What the release has, one file after the other.
FROM ?= .build/release-archive
PREFIX ?= /usr/local
install:
	@test -d $(FROM)/share || $(MAKE) --no-print-directory release
	@cd $(FROM) && find bin share -type f | while read -r file; do \
	    case $$file in bin/*) mode=755 ;; *) mode=644 ;; esac; \
	    install -D -m $$mode "$$file" "$(DESTDIR)$(abspath $(PREFIX))/$$file" || exit 1; done
	@echo "signet $$("$(DESTDIR)$(abspath $(PREFIX))/bin/signet" --version | head -n 1) is in $(DESTDIR)$(abspath $(PREFIX))/bin"

packages:
	@Scripts/setup --packages
	$(if $(RELEASED),,@rm -rf .build/packages)
	$(if $(RELEASED),,@Scripts/with-progress 'Building for release' .build/release-build.log Scripts/release --out .build/packages)
	@$(MAKE) --no-print-directory install FROM=.build/packages PREFIX=.build/packages-installed
	@rm -rf .build/packages-installed
	@Scripts/packages .build/packages
	@Scripts/packages --check .build/packages

vectors: build
	@Scripts/vectors

wasm: build
	@Scripts/wasm --twice
	@Scripts/wasm --check

keystores: build
	@Scripts/keystores

interop: setup
	$(building) 'Building' .build/demo-build.log swift build
	@Scripts/interop/run
	@Scripts/interop/cards.py
	@Scripts/wallet-cards

pins: setup
	$(building) 'Building' .build/demo-build.log swift build
	@Scripts/pins-agreement
	@Scripts/pins-interception
	@Scripts/pins-limbo

acme: build
	@Scripts/setup --acme
	@Scripts/acme

stomp: build
	@Scripts/stomp-conformance

objects: build
	@Scripts/setup --objects || true
	@Scripts/objects

engines: build
	@Scripts/engines

# ROUNDS=20: so many fail-overs of each kind, under load, and a control that has to lose: seven minutes. FAULTS=1, five minutes: cut lines,
# clocks, restarts, bits.
cluster: build
	@Scripts/setup --objects || true
	@Scripts/cluster
	@if [ -n '$(ROUNDS)$(FAULTS)$(SOAK)$(OLDER)' ]; then \
	    Scripts/with-progress 'Building the load' .build/cluster-bench.log \
	        env SIGNET_BENCHMARKS=1 swift build $(BUILD_FLAGS) --product cluster-bench; fi
	@$(if $(ROUNDS),Scripts/cluster-rounds --rounds $(ROUNDS),true)
	@$(if $(FAULTS),Scripts/cluster-faults,true)
	@$(if $(OLDER),Scripts/cluster-faults --older $(OLDER),true)
	@$(if $(SOAK),Scripts/cluster-faults --soak $(SOAK),true)

network: build
	@Scripts/cut-network
	@Scripts/meet-apart
	@Scripts/mdns-peers

web: build
	@Scripts/web
	@Scripts/explore
	@Scripts/card-page
	@Scripts/site-cards
	@Scripts/screens --check

examples:
	@Scripts/examples --build

fuzz: setup
	@Scripts/with-progress 'Building the fuzzer' .build/fuzz-build.log Scripts/fuzz --build
	@Scripts/fuzz $(FUZZ)

models: setup
	@Models/run

removals: setup
	@Scripts/removals --all

# SIGNET_SOAK_SECONDS says for how long.
soak: build
	@seconds=$${SIGNET_SOAK_SECONDS:-3600}; \
	    SIGNET_SOAK_SECONDS=$$seconds SIGNET_SILENCE=$$((seconds + 600)) Scripts/with-failures-last .build/soak.log \
	    swift test --skip-build --disable-xctest --filter SoakTests
	@grep -a -A 2 '^soak:' .build/soak.log

format:
	@Scripts/check-format --fix

bench:
	@Scripts/setup --bench
	@Scripts/with-progress 'Building benchmarks' .build/bench-build.log \
	    env SIGNET_BENCHMARKS=1 swift build --configuration release
	@Benchmarks/run

clean:
	@rm -rf .build .build-removals Fuzzing/.build
