# Meson and Ninja do the work; this file is what a person types.
PREFIX  ?= /usr/local
DESTDIR ?=
# What `make test` builds and tests, as TREE or TREE:SUITE; .ci/run adds the sanitizers.
TEST_BUILDS ?= build
configured = $(foreach t,$(1),$(firstword $(subst :, ,$(t)))/build.ninja)

all: build/build.ninja
	ninja -C build

demo: setup build/build.ninja
	ninja -C build demo
	scripts/demo build

test: setup-test $(call configured,$(TEST_BUILDS))
	scripts/test $(TEST_BUILDS)

bench: setup-bench all
	ninja -C build bench
	bench/run build

sanitize: setup-test build-asan/build.ninja
	scripts/test build-asan

tsan: setup-test build-tsan/build.ninja
	scripts/test build-tsan:softgpu-core

# The samples on the ROCm of each Debian release, in root file systems of their own (docs/stacks.md).
test-stacks: all
	scripts/test-stacks build $(STACKS)

# AMD's own test packages on the software GPU, in minutes each: make test-packages STACK=sid PACKAGES=librocprim-tests
test-packages: all
	scripts/test-packages build $(or $(STACK),sid) $(PACKAGES)

# Applications from Debian's packages there: llama.cpp, RCCL, rocBLAS, hipBLASLt, MIOpen.
test-apps: all
	tests/stacks/apps/run build $(APPS)

install: all
	meson configure build -Dprefix=$(abspath $(PREFIX))
	meson install -C build $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# build-deb/wavescope_VERSION_amd64.deb; `apt-get build-dep ./` installs what is missing.
deb:
	dpkg-checkbuilddeps
	DEB_OUTPUT=build-deb debian/rules clean binary

tidy: all
	scripts/tidy build

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build build-asan build-tsan build-deb

setup:
	@scripts/setup
setup-%:
	@scripts/setup $*

# libdir is lib: the programs look for their libraries at ../lib, on every distribution.
build/build.ninja:
	meson setup $(@D) -Dlibdir=lib -Dprefix=$(abspath $(PREFIX))
# Sanitized code takes long to compile: less optimisation and lines only halve that.
build-asan/build.ninja:
	meson setup $(@D) -Db_sanitize=address,undefined $(sanitized)
build-tsan/build.ninja:
	meson setup $(@D) -Db_sanitize=thread $(sanitized)
sanitized = -Dlibdir=lib -Db_lundef=false -Doptimization=1 -Dc_args=-g1 $(hip_programs)
# The plain tree has them, if it is there: scripts/hip-compile.
hip_programs = -Dhip_programs=$(CURDIR)/build

# setup comes before what it sets up; Ninja is parallel enough.
.NOTPARALLEL:
.PHONY: all demo test test-apps test-stacks test-packages bench sanitize tsan install deb tidy format clean setup
