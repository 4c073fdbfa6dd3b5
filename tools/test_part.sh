#!/usr/bin/env bash
# test_part.sh NAME PYTEST...: runs one part of the suite whose tests wait for other programs. Those that fail are run
# once more: a test that then passes is unsteady, is named in the output, and must be mended; one that fails again fails.
set -uo pipefail
name=$1
shift
cache=(-o "cache_dir=build/pytest-$name")
"$@" "${cache[@]}" && exit 0
echo "=== Once more, the tests that failed: those that pass now are UNSTEADY and must be mended ==="
exec "$@" "${cache[@]}" --last-failed --last-failed-no-failures none -v
