# One command per thing a developer does; `make help` lists them. Needs Python >= 3.11 with venv, g++ >= 12 and git.
# Everything that is installed or built lies in .venv/ and build/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= fuzz_tokens fuzz_waves fuzz_pcmap fuzz_program fuzz_waits fuzz_wave_json fuzz_stalls fuzz_sqlite
CLANG_FORMAT ?= clang-format-22
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CPP_FILES = $(shell git ls-files --cached --others --exclude-standard 'cpp/*.cpp' 'cpp/*.hpp')
CORE_FILES := CMakeLists.txt pyproject.toml $(wildcard cpp/include/wavescope/*.hpp cpp/src/*.?pp cpp/bind/*.?pp)

# The system's CMake will do; without one, the virtual environment's.
ifneq ($(shell command -v cmake),)
CMAKE := cmake
CTEST := ctest
else
CMAKE := $(BIN)/cmake
CTEST := $(BIN)/ctest
CMAKE_STAMP := $(STAMPS)/build
endif

.PHONY: help demo test test-slow test-core check format core fuzz bench kernels llvm clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(STAMPS)/package ## set up, build the native core, run `wavescope demo`
	$(BIN)/wavescope demo

test: llvm test-core $(STAMPS)/package $(STAMPS)/test ## set up everything and run the whole suite
	$(BIN)/python -m pytest -m "not slow"

test-slow: llvm $(STAMPS)/package $(STAMPS)/test ## the tests that take longer than a few seconds
	$(BIN)/python -m pytest -m slow

test-core: $(CMAKE_STAMP) ## the C++ tests and the corpus replay, under ASan and UBSan
	$(CMAKE) --preset sanitize >/dev/null
	$(CMAKE) --build --preset sanitize --parallel $(JOBS)
	$(CTEST) --preset sanitize --parallel $(JOBS)

check: llvm $(STAMPS)/package $(STAMPS)/dev ## ruff, mypy --strict, clang-format, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(CLANG_FORMAT) --dry-run -Werror $(CPP_FILES)
	$(BIN)/lint-imports

format: llvm $(STAMPS)/dev ## let ruff and clang-format rewrite what they would complain about
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(CLANG_FORMAT) -i $(CPP_FILES)

core: $(CMAKE_STAMP) ## the C++ core alone: optimised build, its tests and benchmark, no Python
	$(CMAKE) --preset core >/dev/null
	$(CMAKE) --build --preset core --parallel $(JOBS)
	$(CTEST) --preset core --parallel $(JOBS)

fuzz: llvm $(CMAKE_STAMP) ## libFuzzer under ASan and UBSan, FUZZ_SECONDS (60) for each of FUZZ_TARGETS
	$(CMAKE) --preset fuzz >/dev/null
	$(CMAKE) --build --preset fuzz --parallel $(JOBS)
	failed=0; for target in $(FUZZ_TARGETS); do tools/fuzz.sh $$target $(FUZZ_SECONDS) || failed=1; done; exit $$failed

bench: $(STAMPS)/package ## speed and memory of the decoder, of analyses and of databases
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/databases.py --quick

kernels: llvm $(STAMPS)/package ## compile the kernels of synth/kernels again and write their listings
	$(BIN)/python -m wavescope.synth.kernels.build

llvm: ## LLVM 22 through apt-get when root and missing
	@tools/llvm.sh

clean: ## remove everything that make made
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Stamps live in the virtual environment: they go with it.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "wavescope needs Python 3.11 or newer; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/build $(STAMPS)/test $(STAMPS)/dev: $(STAMPS)/%: $(STAMPS)/venv pyproject.toml
	$(PIP) install --group $*
	touch $@

$(STAMPS)/package: $(STAMPS)/build $(CORE_FILES)
	$(PIP) install --no-build-isolation --editable .
	touch $@
