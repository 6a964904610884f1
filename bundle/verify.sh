#!/bin/sh
# Verifies a bundle: the symbols that it needs of glibc, what is in it, and that racwire runs from it in the oldest
# userland that this machine's Debian mirror has, without Python or network, as nobody. Needs root, for the chroot.
# Oracle Linux 7 itself cannot be had from there: for its glibc 2.17 stands the limit on the symbols.
#     bundle/verify.sh RUN WORK
set -eu
cd "$(dirname "$0")/.."
run=$(realpath "$1") work=$2
python=.venv/bin/python

echo "verify: symbols and content"
rm -rf "$work/verify"
mkdir -p "$work/verify"
XDG_CACHE_HOME=$work/verify sh "$run" --extract-only "$work/verify/racwire" >/dev/null
"$python" -m bundle.symbols "$work/verify/racwire"
inside=$(find "$work/verify/racwire" -path '*racwire_lab*' -o -name tests -o -name idlelib -o -name ensurepip)
[ -z "$inside" ] || { echo "the bundle has what does not belong in it: $inside" >&2; exit 1; }
if grep -rIl -e "$PWD" -e "$work" "$work/verify/racwire"; then
    echo "the bundle names directories of the machine that built it" >&2
    exit 1
fi

[ "$(id -u)" = 0 ] || { echo "verify: without root, racwire was not tried in a chroot." >&2; exit 1; }
if [ ! -e "$work/chroot/.complete" ]; then
    rm -rf "$work/chroot"
    mirror=$("$python" -c 'from bundle.sources import mirrors; print(mirrors()[0])')
    for suite in stretch buster bullseye bookworm; do
        ! debootstrap --variant=minbase "$suite" "$work/chroot" "$mirror" >"$work/debootstrap.log" 2>&1 || break
        rm -rf "$work/chroot"
    done
    touch "$work/chroot/.complete"
fi
# shellcheck disable=SC1091
userland=$(. "$work/chroot/etc/os-release" && echo "$PRETTY_NAME")
echo "verify: in a chroot of $userland, as nobody, without network"
install -m 0755 "$run" "$work/chroot/racwire.run"
for file in tests/golden/v0_2_0/faults.racwire tests/golden/v0_2_0/before.rec bundle/in_chroot.sh bundle/in_pty.py; do
    install -m 0644 "$file" "$work/chroot"
done
# In namespaces of its own: /proc and /tmp of the chroot end with them. /tmp runs no programs, as on a hardened node.
# shellcheck disable=SC2016 # $1 is of the inner shell
unshare --mount --net --pid --fork sh -eu -c '
    mount -t proc proc "$1/proc"
    mount --bind /dev "$1/dev"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
    mount -t tmpfs -o mode=1777,noexec tmpfs "$1/tmp"
    mount -t tmpfs -o mode=1777 tmpfs "$1/home"
    exec chroot "$1" setpriv --reuid nobody --regid nogroup --clear-groups env -i PATH=/usr/bin:/bin TERM=xterm \
        HOME=/home/nobody sh -eu /in_chroot.sh
' sh "$work/chroot"
