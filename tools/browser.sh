#!/usr/bin/env bash
# Makes a headless Chromium available for the tests of the page. Installs it through apt-get when root; otherwise says
# in one sentence what is missing. Succeeds either way: the tests that need it skip with a reason.
set -euo pipefail

has_browser() {
    command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v google-chrome >/dev/null
}

has_browser && exit 0
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium-headless-shell >/dev/null; then
        has_browser && exit 0
    fi
fi
echo "There is no Chromium here, so the tests of the page in a browser are skipped:" \
    "install the package chromium-headless-shell to run everything." >&2
