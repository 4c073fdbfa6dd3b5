#!/usr/bin/env bash
# fuzz.sh TARGET SECONDS: runs one libFuzzer target of build/fuzz on its seeds, its regressions and what earlier runs
# found. An input that fails is kept in build/fuzz/failures, and beside it a smaller one that fails too.
set -euo pipefail
target=$1
seconds=$2
here=build/fuzz
program=$here/cpp/fuzz/$target
failures=$here/failures
limits=(-timeout=60 -rss_limit_mb=2048 -max_len=16384)
mkdir -p "$here/corpus/$target" "$failures"
corpora=("$here/corpus/$target" "$here/seeds/$target")
[[ -d cpp/fuzz/regressions/$target ]] && corpora+=("cpp/fuzz/regressions/$target")
"$here/cpp/fuzz/make_seeds" "$target" "$here/seeds/$target"

echo "$target: $seconds s"
before=$(mktemp)
if "$program" "${corpora[@]}" "${limits[@]}" -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$failures/$target-" 2>"$here/$target.log"; then
    grep -E 'DONE|average_exec_per_sec|new_units_added|peak_rss_mb' "$here/$target.log"
    exit 0
fi
tail -n 40 "$here/$target.log" >&2
for input in $(find "$failures" -name "$target-*" -not -name '*.minimal' -newer "$before"); do
    "$program" "${limits[@]}" -minimize_crash=1 -max_total_time=60 -exact_artifact_path="$input.minimal" "$input" \
        >/dev/null 2>&1 || true
done
echo "$target failed; the inputs are in $failures, the whole log in $here/$target.log" >&2
exit 1
