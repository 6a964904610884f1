#!/bin/sh
# Builds dist/racwire-VERSION-linux-x86_64.run, its SBOM and its SHA-256, and verifies it. The same commit gives the same
# bytes. BUNDLE_WORK names the directory of the work; what is compiled there is kept until the sources change.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
umask 022
unset PYTHONHOME PYTHONPATH
python=$PWD/.venv/bin/python
mkdir -p "${BUNDLE_WORK:-build/bundle}" dist
work=$(cd "${BUNDLE_WORK:-build/bundle}" && pwd)

missing=
for tool in apt-get dpkg make perl patch cc debootstrap setpriv unshare; do
    PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
done
[ -z "$missing" ] || { echo "make bundle needs Debian with these commands, too:$missing" >&2; exit 1; }

fact() { # of sources.toml
    "$python" -c "from bundle.sources import table; print($1)"
}

get_compiler() {
    [ ! -d "$work/compiler" ] || return 0
    fact '"{name}=={version} --hash=sha256:{sha256}".format(**table()["compiler"])' >"$work/compiler.txt"
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action ignore --require-hashes --no-deps \
        --target "$work/compiler" -r "$work/compiler.txt"
}

get_wheels() { # racwire's own, and those of the lock for CPython 3.13 and glibc 2.17
    rm -rf "$work/wheels"
    "$python" -m pip download --quiet --disable-pip-version-check --only-binary=:all: --python-version 3.13 \
        --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --require-hashes -r requirements.lock \
        -d "$work/wheels"
    "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w "$work/wheels" .
}

recipe=$(cat bundle/sources.toml bundle/compile.sh | sha256sum)
if [ ! -d "$work/python" ] || [ "$(cat "$work/recipe" 2>/dev/null)" != "$recipe" ]; then
    "$python" -m bundle.sources "$work/downloads" "$work/sources"
    rm -rf "$work/compiler" "$work/recipe"
    get_compiler
    SOURCE_DATE_EPOCH=$(fact 'int(table()["compiled"].timestamp())') \
        sh bundle/compile.sh "$work/sources" "$work" "$work/compiler/ziglang"
    echo "$recipe" >"$work/recipe"
fi

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || fact 'int(table()["compiled"].timestamp())')
export SOURCE_DATE_EPOCH
get_wheels
version=$("$python" -c 'import tui; print(tui.__version__)')
run=dist/racwire-$version-linux-x86_64.run
"$python" -m bundle.tree "$work/python" "$work/sources" "$work/wheels" "$work/tree"
install -D -m 0644 "$work/compiler/ziglang/LICENSE" "$work/tree/share/doc/ziglang/copyright" # its compiler-rt is linked in
[ ! -e .ci/share ] || sh .ci/share "$work/tree/share"
"$python" -m bundle.sbom "$work/wheels" "$work/sources" "${run%.run}.cdx.json" "$version" "$SOURCE_DATE_EPOCH"
cp "${run%.run}.cdx.json" "$work/tree/bundle.cdx.json"
"$work/tree/bin/python3.13" -I bundle/pack.py "$work/tree" "$work/deps/bin/xzdec" "$run" "$version" "$SOURCE_DATE_EPOCH"
sh bundle/verify.sh "$run" "$work"
ls -l "$run"
cat "$run.sha256"
