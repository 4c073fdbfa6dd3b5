# One command per thing a developer does; `make help` lists them. Needs Python >= 3.11 with venv and headers, g++ >= 12
# and git. Everything that is installed or built lies in .venv/, build/, web/node_modules/ and src/wavewright/_web/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= fuzz_tokens fuzz_waves fuzz_pcmap fuzz_program fuzz_waits fuzz_wave_json fuzz_stalls fuzz_sqlite fuzz_spans \
	fuzz_executed fuzz_groups fuzz_writers fuzz_isa fuzz_live fuzz_evaluate fuzz_library fuzz_perfetto
FLIPS ?= 10000
SANITIZED_TESTS ?= tests/unit/readers tests/damage tests/golden tests/property
# Tests that ask LLVM.
JUDGED_TESTS := tests/unit/codeobj tests/golden/test_pipe_cycles.py tests/unit/analysis/common/test_limits.py
CLANG_FORMAT ?= clang-format-22
# Generated files that `make check` compares in a second each; `make docs` writes them, and the how-to outputs, which take a minute.
GENERATED := table_docs token_docs quantity_docs view_docs metric_docs rocprofv3_docs verdict_docs doctor_docs jobs_file_docs lane_rule_docs page_types demo_data mcp_docs section_docs gallery llms
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# As in tools/run_tests.py: tests run on all cores, so Polars gets one thread in each. The order of sets is fixed.
PYTHON_TEST := env PYTHONHASHSEED=0 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest
PYTEST := $(PYTHON_TEST) -m "not slow"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CPP_FILES = $(shell git ls-files --cached --others --exclude-standard 'cpp/*.cpp' 'cpp/*.hpp')
# Folders of modules, too: an editable install remembers where each module was.
CORE_FILES := CMakeLists.txt cpp/core.cmake pyproject.toml $(shell find cpp/include cpp/src cpp/bind -type f) \
	$(shell find src/wavewright -type d -not -name __pycache__ -not -path '*/_web*')

# The system's CMake will do; without one, the virtual environment's.
ifneq ($(shell command -v cmake),)
CMAKE := cmake
CTEST := ctest
else
CMAKE := $(BIN)/cmake
CTEST := $(BIN)/ctest
CMAKE_STAMP := $(STAMPS)/build
endif

# The viewer's page needs Node.js >= 20.19: the system's, or else one in the virtual environment.
ifeq ($(shell node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm),)
NODE_STAMP := $(STAMPS)/node
export PATH := $(CURDIR)/$(BIN):$(PATH)
endif
PAGE := src/wavewright/_web/index.html
NODE_MODULES := web/node_modules/.package-lock.json
PAGE_FILES := $(wildcard web/*.json web/*.ts web/*.html web/licences/*) $(shell find web/src -type f)
NPM := npm --prefix web --loglevel=error

.PHONY: page test-page format-page browser screenshots
.PHONY: sdist wheel test-wheel try-wheel
.PHONY: help demo docs installed ready ready-all test test-all test-notebooks test-office test-llvm test-core test-core-all test-threads test-aarch64 test-sanitized flips search check format core fuzz bench kernels llvm clang-format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: page $(STAMPS)/package ## set up, build the native core, run `wavewright demo`
	$(BIN)/wavewright demo

ready: installed $(STAMPS)/collected ## set up everything that the tests need, and test nothing

installed: browser page $(STAMPS)/test $(STAMPS)/package

test: $(CMAKE_STAMP) ## set up everything and run the suite on all cores; without LLVM, the tests that ask it skip
	$(PYTHON) tools/run_tests.py

test-all: llvm $(CMAKE_STAMP) ## the same with everything that is slow, all examples and all replays: hours, for every night
	$(PYTHON) tools/run_tests.py --all

ready-all: ready $(STAMPS)/notebooks
	tools/office.sh

test-notebooks: ready $(STAMPS)/notebooks ## displays and widgets in JupyterLab and marimo, in Chromium
	$(PYTHON_TEST) -m slow tests/notebook

test-office: ready ## workbooks by LibreOffice, PDF by poppler (apt-get when root and missing)
	tools/office.sh
	$(PYTHON_TEST) -m slow tests/unit/export/report

test-llvm: llvm ready ## the tests that ask LLVM 22 whether we are right; none may skip for the lack of it
	WAVEWRIGHT_JUDGES=1 $(PYTEST) $(JUDGED_TESTS)

search: ready ## the property tests with examples drawn at random; what they find becomes a fixture
	WAVEWRIGHT_EXAMPLES=search $(PYTEST) tests/property

# Links what pip compiled: to compile all of it once more under sanitizers takes a third as long as the Python tests.
test-core: $(STAMPS)/package ## the C++ tests and the corpus replay, on the core that the Python module is linked from
	$(CMAKE) --preset module -D WAVEWRIGHT_CORE="$$(echo "$$PWD"/build/cp*_$$(uname -m)/libwavewright_core.a)" >/dev/null
	$(CMAKE) --build --preset module --parallel $(JOBS)
	$(CTEST) --preset module --parallel $(JOBS)

test-core-all: $(CMAKE_STAMP) ## the same under ASan and UBSan, with all rounds of the replay
	$(CMAKE) --preset sanitize >/dev/null
	$(CMAKE) --build --preset sanitize --parallel $(JOBS)
	$(CTEST) -C all --preset sanitize --parallel $(JOBS)

test-threads: $(CMAKE_STAMP) ## the C++ tests of what runs on several threads, under ThreadSanitizer
	$(CMAKE) --preset threads >/dev/null
	$(CMAKE) --build --preset threads --parallel $(JOBS)
	$(CTEST) --preset threads

test-aarch64: $(CMAKE_STAMP) ## the C++ tests and the corpus replay for aarch64, run by QEMU (apt-get when root and missing)
	tools/aarch64.sh
	$(CMAKE) --preset aarch64 >/dev/null
	$(CMAKE) --build --preset aarch64 --parallel $(JOBS)
	$(CTEST) --preset aarch64 --parallel $(JOBS)

flips: $(CMAKE_STAMP) ## FLIPS (10000) bit flips per stream family under ASan and UBSan, and what came of them
	$(CMAKE) --preset sanitize >/dev/null
	$(CMAKE) --build --preset sanitize --target flips --parallel $(JOBS)
	build/sanitize/cpp/fuzz/flips $(FLIPS)

test-sanitized: ready ## SANITIZED_TESTS of Python on a native module under ASan and UBSan
	JOBS=$(JOBS) tools/sanitized/run.sh $(BIN)/python -m pytest -m "not slow" $(SANITIZED_TESTS)

check: clang-format $(NODE_MODULES) $(STAMPS)/package $(STAMPS)/dev ## ruff, mypy --strict, clang-format, import-linter, biome, tsc; words, budgets, docs, stale generated files
	status=0; \
	$(NPM) run --silent check || status=1; \
	$(BIN)/ruff check . || status=1; \
	$(BIN)/ruff format --check . || status=1; \
	$(BIN)/mypy --strict || status=1; \
	$(CLANG_FORMAT) --dry-run -Werror $(CPP_FILES) || status=1; \
	$(BIN)/lint-imports || status=1; \
	$(BIN)/python tools/check_words.py || status=1; \
	$(BIN)/python tools/check_budgets.py || status=1; \
	$(BIN)/python tools/check_docs.py || status=1; \
	for page in $(GENERATED); do \
		$(BIN)/python tools/make_$$page.py --check || { echo "what tools/make_$$page.py writes is stale: run make docs" >&2; status=1; }; \
	done; \
	$(BIN)/python tools/judge_rules.py --check || { echo "docs/reference/rules.md is stale: run tools/judge_rules.py" >&2; status=1; }; \
	exit $$status

docs: $(STAMPS)/package ## write every generated page and file again: tables, views, metrics, how-to outputs, the demo's captures
	for page in $(GENERATED) howto_outputs; do $(BIN)/python tools/make_$$page.py; done

format: clang-format format-page $(STAMPS)/dev ## let ruff, clang-format and biome rewrite what they would complain about
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(CLANG_FORMAT) -i $(CPP_FILES)

page: $(PAGE) ## build the viewer's page with Vite, when it has changed

test-page: page ## the unit tests of the page
	$(NPM) run --silent test

format-page: $(NODE_MODULES)
	$(NPM) run --silent format

screenshots: ready ## pictures of every view, into screenshots/
	$(BIN)/python tools/make_screenshots.py

core: $(CMAKE_STAMP) ## the C++ core alone: optimised build, its tests and benchmark, no Python
	$(CMAKE) --preset core >/dev/null
	$(CMAKE) --build --preset core --parallel $(JOBS)
	$(CTEST) --preset core --parallel $(JOBS)

fuzz: llvm ready ## under ASan and UBSan, FUZZ_SECONDS (60) each: libFuzzer on FUZZ_TARGETS, the program on changed inputs
	$(CMAKE) --preset fuzz >/dev/null
	$(CMAKE) --build --preset fuzz --parallel $(JOBS)
	failed=0; for target in $(FUZZ_TARGETS); do tools/fuzz.sh $$target $(FUZZ_SECONDS) || failed=1; done; \
	for target in files rows chrome mcp; do tools/sanitized/run.sh $(BIN)/python tools/fuzz_program.py $$target \
		--seconds $(FUZZ_SECONDS) || failed=1; done; exit $$failed

bench: ready ## speed and memory of the decoder, of analyses, of databases, of counters and of the viewer
	$(BIN)/python -m benchmarks.decode
	$(BIN)/python -m benchmarks.analysis
	$(BIN)/python -m benchmarks.databases --quick
	$(BIN)/python -m benchmarks.counters
	$(BIN)/python -m benchmarks.disassembly
	$(BIN)/python -m benchmarks.viewer

kernels: llvm $(STAMPS)/package ## compile the kernels of synth/kernels again and write their listings
	$(BIN)/python -m synth.kernels.build

# Machines to build wheels for; the system's g++ 12 and that for the other machine, as packages of Debian 12.
WHEEL_MACHINES ?= x86_64 aarch64
# Systems whose chroots the wheel for x86_64 is tried in, by the names of Debian and Ubuntu: glibc 2.31 to the newest. That for
# aarch64 is tried on Debian 12.
WHEEL_SUITES ?= bullseye bookworm jammy trixie sid
WHEEL_VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

sdist: page ## the source distribution, into dist/; it contains the built page
	$(PYTHON) tools/wheel/build.py --sdist-only

wheel: page $(STAMPS)/audit ## the source distribution and a wheel for each of WHEEL_MACHINES, into dist/, checked
	tools/wheel/compilers.sh $(WHEEL_MACHINES)
	$(PYTHON) tools/wheel/build.py $(WHEEL_MACHINES)
	for machine in $(WHEEL_MACHINES); do \
		$(BIN)/python tools/wheel/check_wheel.py dist/wavewright-$(WHEEL_VERSION)-*_$$machine.whl; \
	done

test-wheel: browser page $(STAMPS)/package ## the wheel that pip install . builds, installed outside the checkout: files, verbs, tools, writers, page
	tools/wheel/test_wheel.sh -q

try-wheel: ## install what is in dist/, and a clone, in bare chroots of WHEEL_SUITES, aarch64 under QEMU; needs root and mmdebstrap
	for machine in $(WHEEL_MACHINES); do \
		suites="$(WHEEL_SUITES)"; [[ $$machine == x86_64 ]] || suites=bookworm; \
		for suite in $$suites; do tools/wheel/try_wheel.sh $$suite dist/wavewright-$(WHEEL_VERSION)-*_$$machine.whl; done; \
	done
	for source in dist/wavewright-$(WHEEL_VERSION).tar.gz .; do tools/wheel/try_wheel.sh bookworm $$source; done

browser: ## Chromium through apt-get when root and missing
	@tools/browser.sh

llvm: ## LLVM 22, the judge of tests and the compiler of fuzzers and kernels: through apt-get when root and missing
	@tools/llvm.sh

clang-format:
	@tools/llvm.sh clang-format-22

clean: ## remove everything that make made
	rm -rf $(VENV) build web/node_modules src/wavewright/_web screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Stamps live in the virtual environment: they go with it.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "wavewright needs Python 3.11 or newer; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/build $(STAMPS)/test $(STAMPS)/dev $(STAMPS)/node $(STAMPS)/audit $(STAMPS)/notebooks: $(STAMPS)/%: $(STAMPS)/venv pyproject.toml
	$(PIP) install --no-compile --group $*
	touch $@

# pip changes one environment at a time, also under `make --jobs`.
$(STAMPS)/build: | $(NODE_STAMP)
$(STAMPS)/test: | $(STAMPS)/build
ifneq ($(filter installed ready ready-all,$(MAKECMDGOALS)),)
$(STAMPS)/package: | $(STAMPS)/test
endif
$(STAMPS)/dev $(STAMPS)/notebooks: | $(STAMPS)/package

# Building a wheel changes no environment: what the tests need is fetched meanwhile. The editable installation takes its
# objects. The page is built first, by the rule that knows when npm has to fetch something.
$(STAMPS)/compiled: $(STAMPS)/build $(CORE_FILES) | page
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/wheel .
	touch $@

$(STAMPS)/package: $(STAMPS)/compiled
	$(PIP) install --no-build-isolation --editable .
	touch $@

# Compiles modules and tests once; otherwise every worker would. Tests that cannot be collected are told of when they run.
$(STAMPS)/collected: $(STAMPS)/package $(STAMPS)/test
	$(BIN)/python -m compileall -q src synth
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q --collect-only tests >/dev/null || true
	touch $@

$(NODE_MODULES): web/package-lock.json | $(NODE_STAMP)
	$(NPM) ci --ignore-scripts --no-fund --no-audit >/dev/null
	touch $@

$(PAGE): $(NODE_MODULES) $(PAGE_FILES)
	$(NPM) run --silent build -- --logLevel warn
	touch $@
