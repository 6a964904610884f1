#!/bin/sh
# racwire @VERSION@ for Linux on x86_64, with its own Python. Needs glibc 2.17 (Oracle Linux 7) or newer, and tar.
# The first start unpacks it into your cache directory; each further start runs what is there.
#   sh FILE --where                 print the directory
#   sh FILE --extract-only [DIR]    unpack into it, or into the new directory DIR; run nothing
version=@VERSION@ sha256=@SHA256@ payload_at=@PAYLOAD_AT@ megabytes=@MEGABYTES@
elsewhere="Set XDG_CACHE_HOME to another directory of yours, or use --extract-only DIR."

fail() {
    printf 'racwire: %s\n' "$*" >&2
    exit 3
}

cache() { # $XDG_CACHE_HOME; else .cache in $HOME, or in the home of the user database
    home=${HOME-}
    case $home in
        /*) ;;
        *) home=$(getent passwd "$(id -u)" | cut -d : -f 6) ;;
    esac
    case ${XDG_CACHE_HOME-} in
        /*) printf '%s\n' "$XDG_CACHE_HOME" ;;
        *) printf '%s/.cache\n' "${home%/}" ;;
    esac
}

refuse_others() { # whoever can write a directory, or one on its way, decides what runs from there
    place=$(cd -P "$1" 2>/dev/null && pwd -P) || fail "$1 cannot be entered. $elsewhere"
    set -- "$place"
    while [ "$place" ]; do
        place=${place%/*}
        set -- "${place:-/}" "$@"
    done
    unsafe=$(find "$@" -prune \( ! -user 0 ! -user "$(id -u)" \
        -o \( -perm -020 -o -perm -002 \) ! -perm -1000 \) -print 2>&1) || fail "$unsafe. $elsewhere"
    [ -z "$unsafe" ] || fail "$unsafe: of another user, or others can write there and replace what runs. $elsewhere"
}

remove_left_over() { # what a killed start of this node left beside a directory
    for left in "$1".new."$(uname -n)".*; do
        if [ -d "$left" ] && ! kill -0 "${left##*.}" 2>/dev/null; then rm -rf "$left"; fi
    done
}

unpack() { # to a directory that is not there: whole, or not at all
    found=$(tail -c "+$payload_at" "$file" | sha256sum)
    [ "${found%% *}" = "$sha256" ] || fail "$file is damaged: its SHA-256 is not what it must be. Copy it again."
    remove_left_over "$1"
    new=$1.new.$(uname -n).$$
    mask=$(umask)
    umask 022
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' HUP INT TERM
    why=$(mkdir -m 0700 "$new" 2>&1) || fail "$why. $elsewhere"
    why=$(tail -c "+$payload_at" "$file" | LC_ALL=C tar -xof - -C "$new" 2>&1) || no_room "$1" "$why"
    "$new/unxz" --version >/dev/null 2>&1 || cannot_run $? "$1"
    why=$("$new/unxz" <"$new/files" | LC_ALL=C tar -xof - -C "$new" 2>&1) || no_room "$1" "$why"
    rm "$new/unxz" "$new/files"
    # Where another start was faster, its directory is as good.
    why=$(mv -T "$new" "$1" 2>&1) || [ -x "$1/bin/racwire" ] || fail "$why. $elsewhere"
    rm -rf "$new"
    trap - EXIT HUP INT TERM
    umask "$mask"
}

no_room() { # the directory, and tar's reason
    case $2 in
        *"No space left"* | *"Wrote only"*) reason="no space left" ;;
        *) reason=${2%%
*} ;;
    esac
    fail "$1 needs $megabytes MB and could not be unpacked: $reason. Nothing is left of it. $elsewhere"
}

cannot_run() { # the exit code of the shell for a program that does not start, and the directory
    [ "$1" != 126 ] || fail "${2%/*} is on a file system that runs no programs (mount option noexec). $elsewhere"
    fail "programs for x86_64 with glibc 2.17 (Oracle Linux 7) or newer do not run here: $(uname -sm)."
}

extract_only() { # into the cache, or a new directory that everyone may read
    if [ "$1" ]; then
        case $1 in
            /*) dir=$1 ;;
            *) dir=$PWD/$1 ;;
        esac
        [ ! -e "$dir" ] || { printf 'racwire: %s is there already: name a new directory.\n' "$dir" >&2; exit 64; }
        refuse_others "$(dirname "$dir")"
        unpack "$dir"
        chmod 0755 "$dir"
    else
        unpacked
    fi
    printf '%s\n' "$dir/bin/racwire"
    [ ! -d "$dir/share/man" ] || printf 'racwire: man pages and completion of shells are in %s.\n' "$dir/share" >&2
}

unpacked() { # makes sure that it is in the cache, and that nobody else can change it
    if [ ! -d "$dir" ]; then
        why=$(umask 077 && mkdir -p "${dir%/*}" 2>&1) || fail "$why. $elsewhere"
        refuse_others "${dir%/*}"
        unpack "$dir"
    fi
    refuse_others "$dir"
}

case $0 in
    /*) file=$0 ;;
    *) file=$PWD/$0 ;;
esac
[ -f "$file" ] || fail "run the file itself: sh racwire-$version-linux-x86_64.run"
dir=$(cache)/racwire/bundle-$version-$(printf %.16s $sha256)
case ${1-} in
    --where) printf '%s\n' "$dir" ;;
    --extract-only) extract_only "${2-}" ;;
    *)
        unpacked
        # What runs from the cache is found again by this file: `racwire unit` prints it.
        RACWIRE_BUNDLE=$file exec "$dir/bin/python3.13" -I "$dir/bin/racwire" "$@"
        ;;
esac
exit
