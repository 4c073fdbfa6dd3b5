#!/usr/bin/env bash
# Line and branch coverage of src/ and cpp/ by what `make test` runs, measured in a clone of the last commit in
# build/coverage/. Python: coverage.py, each line with the tests that execute it (tools/plant_defects.py reads
# build/coverage/main/build/data). C++: gcov, of the module that the Python tests load and of the C++ tests together.
set -euo pipefail
root=$(git rev-parse --show-toplevel)
place=$root/build/coverage
rm -rf "$place"
mkdir -p "$place"
[[ ! -e $root/../shared ]] || ln -s "$(realpath "$root/../shared")" "$place/shared"
git clone --quiet "$root" "$place/main"
cd "$place/main"

counted="--coverage -O1 -fprofile-update=atomic"
CXXFLAGS=$counted LDFLAGS=--coverage make ready
.venv/bin/python -m pip --quiet install coverage gcovr
cat >build/coveragerc <<CONFIGURATION
[run]
branch = True
parallel = True
source = wavewright
data_file = $PWD/build/data
patch = subprocess
sigterm = True
disable_warnings = no-data-collected,module-not-imported,module-not-measured,couldnt-parse
CONFIGURATION
unset PYTHONDONTWRITEBYTECODE
export COVERAGE_RCFILE=$PWD/build/coveragerc PYTHONHASHSEED=0 POLARS_MAX_THREADS=1
.venv/bin/python -m coverage run -m pytest -q -p tests.kit.coverage_contexts -m "not slow" --ignore=tests/wheel \
    -n "$(nproc)" --dist loadgroup tests >build/pytest.log 2>&1 || tail -30 build/pytest.log
.venv/bin/python -m coverage combine --quiet

cmake -S . -B build/gcov -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$counted" >/dev/null
cmake --build build/gcov --parallel "$(nproc)" --target core_tests replay flips floods >/dev/null
ctest --test-dir build/gcov --parallel "$(nproc)" --exclude-regex '^bench_core' >build/ctest.log || tail -30 build/ctest.log

.venv/bin/python -m coverage json --quiet -o build/coverage.json
.venv/bin/python - <<'TOTALS'
import json
totals = json.load(open("build/coverage.json"))["totals"]
lines, branches = totals["covered_lines"], totals["covered_branches"]
print(f"src: lines {100 * lines / totals['num_statements']:.2f} % of {totals['num_statements']:,}, "
      f"branches {100 * branches / totals['num_branches']:.2f} % of {totals['num_branches']:,}")
TOTALS
.venv/bin/gcovr --root . --filter 'cpp/(src|include|bind)/' --exclude-throw-branches --gcov-ignore-parse-errors all \
    --print-summary --txt build/gcovr.txt build 2>/dev/null | sed 's/^/cpp: /'
