# Each target runs a script in scripts/, whose first lines say what it does.
PREFIX ?= /usr/local
SEED ?=
MINUTES ?= 1
WITH ?=
SKIP ?=
.PHONY: all build test test-long mutants test-windows test-aarch64 test-docs fuzz demo bench check advisories install deb dist dist-source docs gpu-bundle format setup clean

all: build
setup:
	@scripts/setup
build: setup
	@scripts/build
check: setup
	@scripts/check
advisories: setup
	@scripts/deny advisories
test: setup
	@SKIP='$(SKIP)' scripts/test
test-long: setup
	@scripts/test-long
mutants: setup
	@scripts/mutants
test-windows: setup
	@scripts/setup-windows
	@scripts/test-windows
test-aarch64: setup
	@scripts/test-aarch64
test-docs: setup
	@scripts/test-docs
fuzz: setup
	@MINUTES='$(MINUTES)' SEED='$(SEED)' scripts/fuzz
demo: setup
	@scripts/demo
bench: setup
	@scripts/bench
install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install
deb: setup
	@scripts/deb
dist: setup
	@scripts/dist
dist-source: setup
	@scripts/dist-source
docs:
	@scripts/docs
gpu-bundle: setup
	@scripts/gpu-bundle $(WITH)
format:
	@scripts/format
clean:
	cargo clean
	rm -rf build .bundle
