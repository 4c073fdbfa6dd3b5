#!/usr/bin/env bash
# Makes LLVM 22 available, all of it or only the packages that are named: the judge of tests, the compiler and linker of
# kernels, clang-format, libFuzzer. Installs it through apt-get when root; otherwise says in one sentence what is
# missing. Succeeds either way: what needs LLVM skips with a reason or says so itself.
set -euo pipefail

packages=("$@")
[[ $# -gt 0 ]] || packages=(llvm-22 clang-22 lld-22 clang-format-22 libclang-rt-22-dev)
# A program of each package.
declare -A programs=([llvm-22]=llvm-mc-22 [clang-22]=clang++-22 [lld-22]=ld.lld-22 [clang-format-22]=clang-format-22)

missing() {
    local package
    for package in "${packages[@]}"; do
        if [[ $package == libclang-rt-22-dev ]]; then
            compgen -G "$(clang-22 -print-runtime-dir)/libclang_rt.fuzzer*.a" >/dev/null || echo "libFuzzer's runtime"
        else
            command -v "${programs[$package]}" >/dev/null || { echo "${programs[$package]}"; return; }
        fi
    done
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
