#!/usr/bin/env bash
# Makes LibreOffice (headless) and poppler's tools available for the tests of workbooks and PDFs. Installs them through
# apt-get when root; otherwise says in one sentence what is missing. Succeeds either way: the tests that need them skip
# with a reason.
set -euo pipefail

has_office() {
    command -v soffice >/dev/null && command -v pdftotext >/dev/null
}

has_office && exit 0
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -qq -y --no-install-recommends libreoffice-calc-nogui poppler-utils >/dev/null; then
        has_office && exit 0
    fi
fi
echo "There is no LibreOffice or no poppler here, so the tests that ask them about reports are skipped:" \
    "install the packages libreoffice-calc-nogui and poppler-utils to run everything." >&2
