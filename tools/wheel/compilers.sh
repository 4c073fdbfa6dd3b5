#!/usr/bin/env bash
# Makes the compilers for `make wheel` available: g++ for each machine named. Installs them through apt-get when root;
# otherwise fails with one sentence that says what is missing.
set -euo pipefail

packages=()
for machine in "$@"; do
    command -v "$machine-linux-gnu-g++" >/dev/null || packages+=("g++-${machine//_/-}-linux-gnu")
done
[[ ${#packages[@]} -eq 0 ]] && exit 0
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null && exit 0
fi
echo "a compiler is missing: install the packages ${packages[*]} to build these wheels." >&2
exit 1
