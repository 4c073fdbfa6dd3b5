#!/usr/bin/env bash
# Builds the wheel as `pip install .` does, installs it into an environment of its own, and judges it there.
#
#   test_wheel.sh [PYTEST OPTION...]      what `make test-wheel` runs
#
# Objects of the editable installation are used again, and so is the environment while pyproject.toml stays the same: then
# only wavewright itself is installed anew. `make try-wheel` does all of it from nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/test-wheel
extras=pdf,plot,sql,xlsx # for every writer, PNG pictures and queries

rm -rf "$work/dist"
.venv/bin/python -m pip --quiet wheel --no-build-isolation --no-deps --wheel-dir "$work/dist" .
wheel=$(echo "$work"/dist/wavewright-*.whl)

pip=("$work/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile)
if cmp --silent pyproject.toml "$work/venv/pyproject.toml"; then
    "${pip[@]}" --no-deps --force-reinstall "$wheel"
else
    rm -rf "$work/venv"
    .venv/bin/python -m venv "$work/venv"
    "${pip[@]}" "$wheel[$extras]" pytest
    cp pyproject.toml "$work/venv/pyproject.toml"
fi

# -I and a folder elsewhere: nothing of the checkout can be imported.
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
cp tests/wheel/test_installed.py "$outside"
git ls-files src/wavewright >"$outside/tracked.txt"
cd "$outside"
"$work/venv/bin/python" -I -m pytest -p no:cacheprovider --import-mode=importlib -W error "$@" test_installed.py
