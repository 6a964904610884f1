#!/bin/sh
# Runs the bundle in the chroot of verify.sh, as nobody: ends with exit code 1 where something is not as it must be.
set -eu
mkdir "$HOME" && cd "$HOME"

expect() { # the exit code, what must be printed, and the command
    wanted=$1 text=$2
    shift 2
    status=0
    "$@" >out 2>&1 </dev/null || status=$?
    printf '  %s -> %s: %s\n' "$*" "$status" "$(grep -m 1 -e "$text" out | cut -c 1-100)"
    if [ "$status" != "$wanted" ] || ! grep -q -e "$text" out; then
        tail -n 20 out >&2
        echo "exit code $wanted and '$text' were expected." >&2
        exit 1
    fi
}

! command -v python3 >/dev/null || { echo "the chroot has a Python." >&2; exit 1; }
expect 0 "(bundle, Python 3" /racwire.run --version
unpacked=$(/racwire.run --where)
python=$unpacked/bin/python3.13
expect 0 "OpenSSL 3" "$python" -I -c 'import bz2, ctypes, lzma, sqlite3, ssl, zlib; print(ssl.OPENSSL_VERSION)'
expect 0 "thin" "$python" -I -c 'import oracledb; print("thin", oracledb.is_thin_mode())'
expect 3 "no Grid Infrastructure home was found" /racwire.run check
expect 2 "Cause " /racwire.run check --from /faults.racwire
expect 2 "<!DOCTYPE html>" /racwire.run report --from /faults.racwire --format html
expect 0 "to x.rec every 1 s" /racwire.run record --for 2s --every 1 x.rec
expect 0 "^Nodes" /racwire.run open x.rec
expect 0 "^Nodes     rac1 and rac2" /racwire.run open /before.rec
expect 2 "was drawn" "$python" -I /in_pty.py Causes /racwire.run open /faults.racwire
expect 130 "was drawn" "$python" -I /in_pty.py Clusterware /racwire.run
expect 3 "noexec" env XDG_CACHE_HOME=/tmp /racwire.run --version
expect 0 "^ExecStart=/racwire.run watch" /racwire.run unit watch
expect 0 "(bundle, Python 3" "$unpacked/bin/racwire" --version
