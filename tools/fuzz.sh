#!/usr/bin/env bash
# fuzz.sh TARGET SECONDS: runs one libFuzzer target of build/fuzz on its seeds, its regressions and what earlier runs
# found. An input that fails is kept, minimised, in build/fuzz/failures.
set -euo pipefail
target=$1
seconds=$2
here=build/fuzz
found=$here/corpus/$target
failures=$here/failures
mkdir -p "$found" "$failures"
corpora=("$found" "$here/seeds/$target")
[[ -d cpp/fuzz/regressions/$target ]] && corpora+=("cpp/fuzz/regressions/$target")
"$here/cpp/fuzz/make_seeds" "$target" "$here/seeds/$target"
echo "$target: $seconds s"
if ! "$here/cpp/fuzz/$target" "${corpora[@]}" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$failures/$target-" 2>"$here/$target.log"; then
    tail -n 40 "$here/$target.log" >&2
    echo "$target failed; the input is in $failures, the whole log in $here/$target.log" >&2
    exit 1
fi
grep -E 'DONE|average_exec_per_sec|new_units_added|peak_rss_mb' "$here/$target.log"
