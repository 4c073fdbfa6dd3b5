#!/usr/bin/env bash
# Makes a cross compiler for aarch64 and an emulator available, for `make test-aarch64`. Installs them through apt-get
# when root; otherwise fails with one sentence that says what is missing.
set -euo pipefail

packages=(g++-aarch64-linux-gnu qemu-user)
tools=(aarch64-linux-gnu-g++ qemu-aarch64)

missing() {
    local tool
    for tool in "${tools[@]}"; do
        command -v "$tool" >/dev/null || { echo "$tool"; return; }
    done
}

[[ -z $(missing) ]] && exit 0
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null; then
        [[ -z $(missing) ]] && exit 0
    fi
fi
echo "$(missing) is missing: install the packages ${packages[*]} to test on aarch64." >&2
exit 1
