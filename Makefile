# SPDX-License-Identifier: GPL-2.0-or-later
# The entry point; meson does the building. `make help` lists the targets.
.DEFAULT_GOAL := build
.PHONY: help setup build build-asan demo check check-quick bench fuzz install clean

# `make check NAME…`: words after check that are not targets are names of tests.
ifneq ($(filter check check-quick,$(firstword $(MAKECMDGOALS))),)
TARGETS = help setup build build-asan demo check check-quick bench fuzz install clean
NAMES := $(filter-out $(TARGETS),$(MAKECMDGOALS))
.PHONY: $(NAMES)
$(NAMES):
	@:
endif

PREFIX ?= /usr/local
SECONDS_PER_FUZZER ?= 60

help:
	@echo 'make               build perfvisor: build/release/perfvisor'
	@echo 'make demo          profile a real guest on a real KVM host, in emulation'
	@echo 'make check         run all tests: unit, golden, CLI, lab (about half an hour)'
	@echo 'make check-quick   run the tests that need no lab (four minutes)'
	@echo 'make check NAME…   run only these: make check lab/test_list cli/test_usage unit'
	@echo 'make bench         measure speed and memory: against stock perf, and on saved guests'
	@echo 'make fuzz          run the fuzzers, SECONDS_PER_FUZZER=$(SECONDS_PER_FUZZER) each'
	@echo 'make install       install into PREFIX=$(PREFIX), below DESTDIR if it is set'
	@echo 'make setup         install the Debian packages that all of these need, fetch perfs'
	@echo 'make clean         remove everything that was built, but no downloads in build/cache'

setup:
	@scripts/setup
	@scripts/fetch-perfs

build/release/build.ninja build/asan/build.ninja: build/%/build.ninja:
	@command -v meson >/dev/null || \
		{ echo "make: meson is missing; 'make setup' installs it" >&2; exit 1; }
	@meson setup build/$* $(MESON_$*) >build/setup-$*.log 2>&1 || \
		{ tail -n 20 build/setup-$*.log >&2; exit 1; }
build/release/build.ninja build/asan/build.ninja: | build/.exists
build/.exists:
	@mkdir -p build && touch $@
MESON_release = --prefix=$(PREFIX) -Dtests=programs
MESON_asan = -Db_sanitize=address,undefined -Db_lundef=false

build: build/release/build.ninja
	$(call compile,release)

build-asan: build/asan/build.ninja
	$(call compile,asan)

# On terminals ninja shows its progress; elsewhere only errors are shown.
compile = @if [ -t 1 ]; then ninja -C build/$(1); else \
	echo 'make: building build/$(1)'; \
	ninja -C build/$(1) >build/ninja-$(1).log 2>&1 || \
		{ tail -n 40 build/ninja-$(1).log >&2; exit 1; }; fi

demo:
	@scripts/setup --without-browser
	@$(MAKE) --no-print-directory build
	@lab/demo

check: setup
	@$(MAKE) --no-print-directory build build-asan
	@tests/run $(NAMES)

check-quick: setup
	@$(MAKE) --no-print-directory build build-asan
	@tests/run --quick $(NAMES)

bench: setup
	@$(MAKE) --no-print-directory build
	@bench/run

fuzz: setup
	@tests/fuzz/run $(SECONDS_PER_FUZZER)

install: build
	@meson configure build/release --prefix=$(PREFIX)
	@meson install -C build/release

clean:
	@rm -rf build/release build/asan build/fuzz build/check build/demo build/bench build/lab
