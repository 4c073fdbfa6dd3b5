#!/usr/bin/env bash
# Installs a wheel, the source distribution or a clone in a bare chroot and runs the tests of the wheel there.
#
#   try_wheel.sh SUITE FILE       SUITE: bullseye (wheels only), bookworm, trixie, sid of Debian; jammy, noble, ... of Ubuntu
#                                 FILE: a wheel, a source distribution, or a checkout (.), whose last commit is taken
#
# Needs root and mmdebstrap; for a wheel of another machine also QEMU's user emulation, registered with the kernel
# (binfmt_misc: the packages qemu-user-static and binfmt-support). The chroot has Python and certificates, nothing else:
# no compiler, no Node.js, no LLVM; for sources a C++ compiler and Python's headers. Chroots are kept in
# WAVEWRIGHT_CHROOTS (build/chroots) and used again; every try has a fresh virtual environment.
set -euo pipefail

suite=$1
if [[ ! -e $2 ]]; then echo "there is no $2: make wheel builds it" >&2; exit 1; fi
file=$(realpath "$2")
root=$(cd "$(dirname "$0")/../.." && pwd)
chroots=${WAVEWRIGHT_CHROOTS:-$root/build/chroots}
mkdir -p "$chroots"
case $file in
    *_aarch64.whl) architecture=arm64 ;;
    *.whl) architecture=amd64 ;;
    *) architecture=$(dpkg --print-architecture) ;;
esac

python=python3
components=main
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
old_python=
packages=
case $suite in
    bullseye) # its python3 is 3.9
        python=/opt/python/bin/python3.11
        old_python=$chroots/python-$suite
        packages=libssl1.1,libffi7,libsqlite3-0,ca-certificates
        ;;
    jammy) python=python3.11 ;;& # its python3 is 3.10
    jammy | noble | plucky | questing)
        components=main,universe # Python 3.11 is in universe, an update
        ubuntu_keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        if [[ ! -e $ubuntu_keyring ]]; then # Debian 12 has no package of it, Debian 13 does
            [[ -e $chroots/keyring$ubuntu_keyring ]] || mmdebstrap --quiet --variant=extract --keyring="$keyring" \
                --include=ubuntu-archive-keyring trixie "$chroots/keyring"
            ubuntu_keyring=$chroots/keyring$ubuntu_keyring
        fi
        keyring=$ubuntu_keyring
        ;;
esac
packages=${packages:-$python,$python-venv,ca-certificates}
chroot=$chroots/$suite-$architecture
if [[ $file != *.whl ]]; then
    packages=$packages,g++,$python-dev
    chroot=$chroot-compiler
fi

if [[ ! -e $chroot/.ready ]]; then
    rm -rf --one-file-system "$chroot"
    # mmdebstrap knows the mirrors of a suite. One may be behind: what it says is signed all the same.
    mmdebstrap --quiet --variant=minbase --architectures="$architecture" --keyring="$keyring" \
        --aptopt='Acquire::Check-Valid-Until "false"' --components="$components" --include="$packages" "$suite" "$chroot"
    if [[ -n $old_python ]]; then
        [[ -e $old_python/bin ]] || "$root/tools/wheel/old_python.sh" "$suite" "$old_python"
        cp -r "$old_python" "$chroot/opt/python"
    fi
    touch "$chroot/.ready"
fi

# What pip and npm need to reach their indexes from here: certificates, proxies, its configuration.
install -d "$chroot/etc" "$chroot/try"
cp -L /etc/resolv.conf "$chroot/etc/resolv.conf" 2>/dev/null || true
if [[ -n ${PIP_CERT:-} ]]; then install -D -m 644 "$PIP_CERT" "$chroot$PIP_CERT"; fi
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
if [[ -n ${PIP_CERT:-} ]]; then environment+=("NODE_EXTRA_CA_CERTS=$PIP_CERT"); fi
for name in npm_config_registry PIP_CERT PIP_INDEX_URL PIP_DEFAULT_TIMEOUT SSL_CERT_FILE http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    if [[ -n ${!name:-} && ( $name != SSL_CERT_FILE || -n ${PIP_CERT:-} ) ]]; then environment+=("$name=${!name}"); fi
done

rm -rf "$chroot/try"
mkdir -p "$chroot/try"
if [[ -d $file ]]; then
    git clone --quiet "file://$file" "$chroot/try/$(basename "$file")" --depth 1
else
    cp "$file" "$chroot/try/"
fi
install -D -m 644 "$root/tests/wheel/test_installed.py" "$chroot/try/tests/test_installed.py"
git -C "$root" ls-files src/wavewright >"$chroot/try/tests/tracked.txt"
cp "$root/tools/wheel/inside.sh" "$chroot/try/inside.sh"
# /proc and the null device are what programs take for granted; both go with the mount namespace.
unshare --mount --pid --fork bash -c '
    chroot=$1; shift
    mount -t proc proc "$chroot/proc"
    for device in null zero random urandom; do
        [[ -e $chroot/dev/$device ]] || touch "$chroot/dev/$device"
        mount --bind "/dev/$device" "$chroot/dev/$device"
    done
    exec chroot "$chroot" "$@"
' try "$chroot" /usr/bin/env -i "${environment[@]}" bash /try/inside.sh "$suite" "$python" "$(basename "$file")"
