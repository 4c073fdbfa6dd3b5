#!/usr/bin/env bash
# The part of try_wheel.sh that runs inside the chroot: install, run, test.
set -euo pipefail

suite=$1
python=$2
file=$3
cd /try
for tool in node llvm-objdump; do
    if command -v "$tool"; then echo "this chroot is not bare: it has $tool" >&2; exit 1; fi
done
if [[ $file == *.whl ]]; then
    for tool in cc c++ g++ clang cmake; do
        if command -v "$tool"; then echo "this chroot is not bare: it has $tool" >&2; exit 1; fi
    done
    binaries=(--only-binary :all:)
else
    binaries=(--only-binary :all: --no-binary wavewright)
fi

echo "== $suite: $(uname -m), $($python --version), glibc $(ldd --version | sed -n '1s/.* //p')"
"$python" -m venv /try/venv
pip=(/try/venv/bin/python -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install --upgrade pip
"${pip[@]}" install "${binaries[@]}" "/try/$file"
"${pip[@]}" check
/try/venv/bin/wavewright --version
/try/venv/bin/wavewright demo --keep /try/capture >/try/demo.txt
head -3 /try/demo.txt
/try/venv/bin/wavewright info /try/capture >/try/info.txt
head -5 /try/info.txt
"${pip[@]}" install --only-binary :all: pytest 'wavewright[pdf,plot,sql,xlsx]'
cd /try/tests # in /try may lie a checkout, whose settings pytest would use
/try/venv/bin/python -I -m pytest -q -p no:cacheprovider
