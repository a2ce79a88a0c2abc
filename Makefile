# SPDX-License-Identifier: Apache-2.0
# A front for CMake. V=1 shows every command. BUILD=folder builds elsewhere, then nothing is written into the source:
# results of `make run` and `make bench` are in BUILD/results.
#
#   make             build, but no test               make test         build and run every test
#   make run         measure with the default plan    make bench        compare with others' tools
#   make deps        install missing packages         make format       lay out the source
#   make install     honours DESTDIR and PREFIX       make uninstall   removes what install made
#   make package     Debian packages, in build/packages
#   make clean
#   make check       the gates of what a change touches, in five minutes: since BASE=origin/main, committed or not
#
# What continuous integration (.ci/run) does besides `make test`, whose parts are test-unit, test-machine and test-vm:
#
#   make check-format   whether make format would change anything
#   make tidy-recent    clang-tidy on what the last fifty commits touched, for two minutes (TIDY_SECONDS=120)
#   make tidy           clang-tidy on everything
#   make sanitize       tests of what reads bytes from elsewhere, under AddressSanitizer and UndefinedBehaviorSanitizer
#   make sanitize-recent   those that the last commits touched, the latest first, as far as SANITIZE_SECONDS=210 go
#   make race           tests of what threads share, under ThreadSanitizer
#   make fuzz           libFuzzer, a minute for each of its targets (FUZZ_SECONDS=60)
#
#   make vmtest         every test that a stock kernel's probes matter to, on those of Debian in a virtual machine
#   make test-bare-root make run and make test in a Debian 12 that has nothing else, below build-bare-root
#   make test-packages   the Debian packages, built, installed, used, replaced and purged in a bare Debian 12 and 13
#   make test-arm64  unit tests of a build for arm64, by qemu; test-arm64-short: those that take seconds
#   make check-abi   whether include/icepath/plugin.h changed only as its version says
#   make test-homes     the same there in each home that .ci/in-a-home has: closed, a user's, with spaces, read-only;
#                        HOMES="root space" are some of them
#   make test-all       all of these to their end, with an hour for each target of libFuzzer (FUZZ_SECONDS=3600)

BUILD ?= build
# A space in its path ends a target, and $(abspath) takes it for the end of a path.
empty :=
BUILD_AS_TARGET := $(subst $(empty) $(empty),\ ,$(BUILD))
BUILD_PATH := $(if $(filter /%,$(firstword $(BUILD))),,$(CURDIR)/)$(BUILD)
# Not every shell makes a home of "~" after "=". Where install and uninstall go, if not where the build says.
GIVEN_PREFIX := $(PREFIX:~/%=$(HOME)/%)
override PREFIX := $(or $(GIVEN_PREFIX),/usr/local)
JOBS ?= $(shell nproc)
V ?= 0
# A compiler's warning is an error where it is mended: CI sets that. Elsewhere a newer compiler must not stop a build.
WERROR ?= $(if $(CI),ON,OFF)

.DELETE_ON_ERROR:
.SUFFIXES:
# Ninja does what can be done in parallel.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory
export V

ifeq ($(V),1)
Q :=
NINJA_FLAGS := -v
else
Q := @
# On a terminal ninja keeps to one line; elsewhere its progress is noise.
NINJA_FLAGS := $(shell test -t 2 || echo --quiet)
endif

comma := ,
# Without that, ccache keeps nothing that is compiled with a precompiled header.
CMAKE_FLAGS += -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DICEPATH_WERROR=$(WERROR) \
	$(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache \
		-DCMAKE_CXX_COMPILER_LAUNCHER="env;CCACHE_SLOPPINESS=pch_defines$(comma)time_macros;ccache")
# libFuzzer is a part of clang.
CMAKE_FLAGS += $(if $(SANITIZE),-DICEPATH_SANITIZE=$(SANITIZE) -DCMAKE_C_COMPILER=clang-19 \
	-DCMAKE_CXX_COMPILER=clang++-19)
# Where tests/arm64/sysroot.sh has unpacked what a build for arm64 needs.
CMAKE_FLAGS += $(if $(ARM64_ROOT),-DCMAKE_TOOLCHAIN_FILE="$(CURDIR)/cmake/arm64.cmake" \
	-DICEPATH_ARM64_ROOT="$(ARM64_ROOT)" -DICEPATH_VMLINUX_BTF="$(ARM64_ROOT)/vmlinux.btf" \
	-DICEPATH_EMULATED="$(EMULATED)")
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
# Where programs that measure are started, since they write into results/ there, and the programs' folder from there.
ifeq ($(BUILD),build)
MEASURE_IN := .
PROGRAMS := build/bin
else
MEASURE_IN := $(BUILD)
PROGRAMS := bin
endif

.PHONY: all deps middleware-deps test-deps run test test-unit test-machine test-vm test-all vmtest bench install
.PHONY: check sanitize sanitize-recent race fuzz fuzz-corpus format check-format tidy tidy-recent clean
all: $(BUILD_AS_TARGET)/build.ninja
	$(Q)ninja -C "$(BUILD)" -j $(JOBS) $(NINJA_FLAGS)

.PHONY: all-with-tests
all-with-tests: $(BUILD_AS_TARGET)/build.ninja
	$(Q)ninja -C "$(BUILD)" -j $(JOBS) $(NINJA_FLAGS) all tests

# Ninja runs cmake again by itself when a CMake file changes; a package that came since may be a library that was
# missing.
$(BUILD_AS_TARGET)/build.ninja: $(wildcard /var/lib/dpkg/status)
	$(Q)$(MAKE) configure
	$(Q)touch "$@"

.PHONY: configure
configure: tools-present
	$(Q)mkdir -p "$(BUILD)"
	$(Q)cmake/quietly.sh cmake -S . -B "$(BUILD)" -G Ninja $(CMAKE_FLAGS)

.PHONY: tools-present
tools-present:
	@for tool in cmake ninja c++ pkg-config; do \
		command -v $$tool >/dev/null || { echo "$$tool is missing: run 'make deps' first" >&2; exit 1; }; \
	done

deps:
	$(Q)cmake/install-packages.sh build

middleware-deps:
	$(Q)cmake/install-packages.sh build middleware

# Tests run what `make bench` runs, for seconds.
test-deps:
	$(Q)cmake/install-packages.sh build middleware test bench

run: deps
	$(Q)$(MAKE) all
	$(Q)cd "$(MEASURE_IN)" && $(SUDO) $(PROGRAMS)/icepath run $(ARGS)

test: test-deps
	$(Q)$(MAKE) configure all-with-tests
	$(Q)tests/run.py "$(BUILD)"

# The parts of it: what needs no probes; what has the machine for itself; the same in a virtual one.
test-unit test-machine test-vm: all-with-tests
test-unit:
	$(Q)tests/run.py "$(BUILD)" --label-exclude machine
test-machine:
	$(Q)tests/run.py "$(BUILD)" --label-regex machine --label-exclude vm
test-vm:
	$(Q)tests/run.py "$(BUILD)" --label-regex '^vm$$'

# What a change can be judged by in five minutes, wherever it stands between an edit and a push. What isn't committed
# is part of it. By default it began at origin/main, or is the last commit.
BASE ?= $(shell git log -n 1 --format=origin/main origin/main..HEAD 2>/dev/null | grep . || echo HEAD~1)
check: develop-deps
	$(Q)$(MAKE) configure check-format
	$(Q)tests/touched.py "$(BUILD)" $(BASE)..HEAD 200
	$(Q)tests/house/tidy.sh "$(BUILD)" $(BASE)..HEAD 60

vmtest: test-deps
	$(Q)$(MAKE) configure all-with-tests
	$(Q)tests/vm/run.sh . "$(BUILD)" full $(ARGS)

# bench-NAME with its options, and the file for its figures.
define benchmark
$(Q)cd "$(MEASURE_IN)" && $(SUDO) $(PROGRAMS)/as_installed $(PROGRAMS)/bench-$(1) --json results/$(2).json $(ARGS)
endef

# What the capture costs, beside bpftrace, perf and trace-cmd; how fast the transports are, beside sockperf, fio and
# bare ping-pongs; how fast middleware is, beside ddsperf. ARGS goes to all: --rounds N, or --short to see whether all
# of it runs.
bench: test-deps
	$(Q)$(MAKE) configure all-with-tests
	$(Q)mkdir -p "$(MEASURE_IN)/results"
	$(call benchmark,capture-cost --scripts "$(CURDIR)/tools",bench)
	$(call benchmark,transports,transports)
	$(call benchmark,middleware,middleware-bench)
	$(Q)echo "the figures are in bench.json, transports.json and middleware-bench.json in $(MEASURE_IN)/results"

install: all
	$(Q)cmake/quietly.sh cmake --install "$(BUILD)" $(if $(GIVEN_PREFIX),--prefix "$(GIVEN_PREFIX)")

.PHONY: uninstall
uninstall: all
	$(Q)cmake/uninstall.sh "$(BUILD)" "$(GIVEN_PREFIX)"

# PACKAGE_VERSION is another version than that of the last commit.
.PHONY: package package-deps
package-deps:
	$(Q)cmake/install-packages.sh build package
package: package-deps all
	$(Q)packaging/make.sh "$(BUILD)"

# Names functions and lines by binutils, which is there; LLVM's llvm-symbolizer is another package.
export ASAN_OPTIONS ?= external_symbolizer_path=$(shell command -v addr2line)
export TSAN_OPTIONS ?= $(ASAN_OPTIONS)

# build-memory or build-thread, beside BUILD, and what is to be built there.
define sanitized
$(Q)$(MAKE) configure BUILD="$(BUILD)-$(1)" SANITIZE=$(1)
$(Q)ninja -C "$(BUILD)-$(1)" -j $(JOBS) $(NINJA_FLAGS) $(2)
endef

sanitize: develop-deps
	$(call sanitized,memory,tests)
	$(Q)tests/run.py "$(BUILD)-memory" --label-exclude program

# What the gates before it built in $(BUILD) says which these are.
SANITIZE_SECONDS ?= 210
sanitize-recent: develop-deps all-with-tests
	$(Q)$(MAKE) configure BUILD="$(BUILD)-memory" SANITIZE=memory
	$(Q)tests/touched.py "$(BUILD)-memory" -200 $(SANITIZE_SECONDS) "$(BUILD)"

race: develop-deps
	$(call sanitized,thread,tests)
	$(Q)tests/run.py "$(BUILD)-thread" --label-exclude program

FUZZ_SECONDS ?= 60
fuzz: develop-deps
	$(call sanitized,memory,fuzzers)
	$(Q)tests/fuzz/run.sh "$(BUILD)-memory" $(FUZZ_SECONDS)

# Of the tree: what tests/fuzz/corpus.cc makes.
fuzz-corpus: all-with-tests
	$(Q)$(BUILD)/bin/fuzz_corpus tests/fuzz/corpus

# Against the versions in tests/plugin_abi.
.PHONY: check-abi
check-abi: test-deps all-with-tests
	$(Q)tests/run.py "$(BUILD)" --tests-regex '^(plugin_abi\.|PluginAbi\.)'

# The packages in a bare Debian 12 and 13, below PACKAGES_IN, which is removed.
PACKAGES_IN ?= /tmp/icepath-packages
.PHONY: test-packages
test-packages: develop-deps
	$(Q)$(SUDO) tests/packages/run.sh $(PACKAGES_IN)

# Compiles the probes and unit tests for arm64, and runs these by qemu: of the model, the walk and plug-ins' interface;
# test-arm64 also those of rates and statistics, which compute for minutes there. Says what arm64 doesn't have.
define emulated
$(Q)$(SUDO) tests/arm64/sysroot.sh "$(BUILD_PATH)-arm64-root"
$(Q)$(MAKE) configure BUILD="$(BUILD)-arm64" ARM64_ROOT="$(BUILD_PATH)-arm64-root" EMULATED="$(1)"
$(Q)ninja -C "$(BUILD)-arm64" -j $(JOBS) $(NINJA_FLAGS) capture_skel_header calibration_skel_header \
	claims_skel_header tests
$(Q)tests/run.py "$(BUILD)-arm64" --exclude-regex '^plugin_abi\.'
$(Q)qemu-aarch64-static -L "$(BUILD)-arm64-root" "$(BUILD)-arm64/bin/left_out"
endef

.PHONY: test-arm64 test-arm64-short
test-arm64-short: develop-deps
	$(call emulated,arm64;model;path;plugin_abi)
test-arm64: develop-deps
	$(call emulated,arm64;model;path;plugin_abi;rate;stats)

# Some of the homes, and what is done in each: make test-homes HOMES="root space" IN_HOMES='make run'
HOMES ?= each
IN_HOMES ?= make run && make test
.PHONY: test-bare-root test-homes
test-bare-root: develop-deps
	$(Q)$(SUDO) .ci/bare-root "$(BUILD)-bare-root"
test-homes: develop-deps
	$(Q)$(SUDO) .ci/bare-root "$(BUILD)-bare-root" .ci/in-a-home "$(HOMES)" sh -c '$(IN_HOMES)'

.PHONY: develop-deps
develop-deps:
	$(Q)cmake/install-packages.sh build middleware test package develop

format: test-deps
	$(Q)git ls-files --cached --others --exclude-standard '*.h' '*.c' '*.cc' | xargs clang-format-19 -i
	$(Q)git ls-files --cached --others --exclude-standard '*.py' | xargs ls 2>/dev/null | xargs black -q

check-format: test-deps
	$(Q)mkdir -p "$(BUILD)"
	$(Q)tests/house/check.sh layout . "$(BUILD)"

tidy: develop-deps all-with-tests
	$(Q)tests/house/tidy.sh "$(BUILD)" all

TIDY_SECONDS ?= 120
tidy-recent: develop-deps all-with-tests
	$(Q)tests/house/tidy.sh "$(BUILD)" -50 $(TIDY_SECONDS)

test-all:
	$(Q).ci/run all

clean:
	$(Q)rm -rf "$(BUILD)" "$(BUILD)-memory" "$(BUILD)-thread" "$(BUILD)-arm64"
