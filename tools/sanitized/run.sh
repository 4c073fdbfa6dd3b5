#!/usr/bin/env bash
# run.sh PYTHON ARGUMENT...: builds the native module under AddressSanitizer and UndefinedBehaviorSanitizer into
# build/sanitized and runs PYTHON with it. Python is not sanitized itself: the runtime is loaded in front of it, and
# what it never frees is no leak of ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$(command -v "$1")
shift
build=build/sanitized
cmake=$(dirname "$python")/cmake  # of the environment: that of the system may be too old
[[ -x $cmake ]] || cmake=$(command -v cmake)
"$cmake" -S . -B $build -DSKBUILD=ON -DPython_EXECUTABLE="$PWD/${python#"$PWD"/}" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS="-Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all" >/dev/null
"$cmake" --build $build --target _core --parallel "${JOBS:-2}"

export WAVEWRIGHT_SANITIZED_CORE="$PWD/$(find $build -maxdepth 1 -name '_core*.so')"
export PYTHONPATH="$PWD/tools/sanitized${PYTHONPATH:+:$PYTHONPATH}"
export ASAN_OPTIONS="detect_leaks=0:abort_on_error=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1"
# libstdc++ too: AddressSanitizer looks for the function that throws when it is loaded.
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so.6)"
exec "$python" "$@"
