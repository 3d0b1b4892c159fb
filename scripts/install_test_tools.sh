#!/bin/sh
# What the tests need and pip cannot bring: Chromium and a library that its driver is linked to, PostgreSQL, a compiler
# with Python's headers, without which PyMC's models run a hundred times slower, and LaTeX with a reader of its pages.
set -eu

# Chromium without windows, where it is packaged: the same engine, a quarter of the time for a page. Any Chromium does, so
# beside one it is installed for the gate alone, and not waited for.
shell=chromium-headless-shell
missing=
if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1; then
    if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && ! command -v $shell >/dev/null 2>&1 && apt-cache show $shell >/dev/null 2>&1; then
        quick="timeout 90 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10"
        wanted="install -y --no-remove --no-install-recommends $shell"
        # shellcheck disable=SC2086
        { $quick update && $quick --download-only $wanted >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq $wanted >/dev/null; } ||
            echo "$shell could not be installed; the tests take the Chromium that is there." >&2
    fi
elif ! command -v $shell >/dev/null 2>&1; then
    missing="$missing chromium"
fi
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -e /etc/debian_version ] && ! /sbin/ldconfig -p | grep -q 'libatomic\.so\.1' && missing="$missing libatomic1"
command -v g++ >/dev/null 2>&1 || missing="$missing g++"
"${PYTHON:-python3}" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' ||
    missing="$missing python3-dev"

if [ -z "$missing" ]; then
    :
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing$missing for the tests ..." >&2
    # A server that Debian starts by itself is not wanted: the tests start their own, in a folder of their own.
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    apt-get update -qq
    apt-cache show $shell >/dev/null 2>&1 && missing="$missing $shell"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "These are not installed:$missing. The tests that need them will be skipped; install them with your package manager." >&2
fi

# One test compiles what is written for papers. It is skipped without these, so that nothing else waits for them.
latex="texlive-latex-base texlive-latex-recommended poppler-utils"
if command -v pdflatex >/dev/null 2>&1 && command -v pdftotext >/dev/null 2>&1; then
    :
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing $latex for the tests ..." >&2
    quick="timeout 180 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10"
    wanted="install -y --no-remove --no-install-recommends $latex"
    # shellcheck disable=SC2086
    { $quick update && $quick --download-only $wanted >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq $wanted >/dev/null; } ||
        echo "$latex could not be installed; the test that compiles LaTeX will be skipped." >&2
else
    echo "These are not installed: $latex. The test that compiles LaTeX will be skipped." >&2
fi
