#!/usr/bin/env bash
# Builds a Python that wavewright runs with on a system whose own is too old: what try_wheel.sh copies into such a chroot.
#
#   old_python.sh SUITE FOLDER      SUITE: bullseye of Debian
#
# The source is that of Debian 12's package. Needs root on Debian 12, mmdebstrap and curl. It is built in a chroot that has a compiler
# and goes away again; FOLDER gets what belongs to /opt/python.
set -euo pipefail

suite=$1
folder=$2
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -1)
source=${mirror%/}/pool/main/p/python3.11/python3.11_3.11.2.orig.tar.gz
sha256=2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
curl --silent --show-error --fail --location --output "$work/python.tar.gz" "$source"
sha256sum --quiet --check <<<"$sha256  $work/python.tar.gz"
mkdir -p "$folder"
# shellcheck disable=SC2016 # $1 is the chroot, for mmdebstrap to fill in
mmdebstrap --quiet --variant=minbase --format=null --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --include=gcc,libc6-dev,make,zlib1g-dev,libssl-dev,libffi-dev,libsqlite3-dev,libbz2-dev,liblzma-dev \
    --customize-hook="upload $work/python.tar.gz /python.tar.gz" \
    --customize-hook='chroot "$1" sh -ec "
        mkdir /source && cd /source && tar -xzf /python.tar.gz --strip-components=1
        { ./configure --prefix=/opt/python --disable-test-modules && make -j2 && make install; } >/build.log 2>&1 ||
            { tail -30 /build.log >&2; exit 1; }"' \
    --customize-hook="sync-out /opt/python $folder" \
    "$suite" -
