#!/usr/bin/env bash
# Makes LLVM 22 available: disassembler, compiler and linker for the tests, clang-format, libFuzzer. Installs it
# through apt-get when root; otherwise says in one sentence what is missing. Succeeds either way: the tests that need
# LLVM skip with a reason.
set -euo pipefail

packages=(llvm-22 clang-22 lld-22 clang-format-22 libclang-rt-22-dev)
tools=(llvm-mc-22 llvm-objdump-22 clang++-22 ld.lld-22 clang-format-22)

missing() {
    local tool
    for tool in "${tools[@]}"; do
        command -v "$tool" >/dev/null || { echo "$tool"; return; }
    done
    compgen -G "$(clang-22 -print-runtime-dir)/libclang_rt.fuzzer*.a" >/dev/null || echo "libFuzzer's runtime"
}

lacking=$(missing)
[[ -z $lacking ]] && exit 0

if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null; then
        lacking=$(missing)
        [[ -z $lacking ]] && exit 0
    fi
fi
echo "LLVM 22 is not complete here ($lacking is missing), so what needs it is skipped:" \
    "install the packages ${packages[*]} to run everything." >&2
