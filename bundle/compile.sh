#!/bin/sh
# Compiles the bundle's CPython and the libraries in it, for glibc 2.17 (Oracle Linux 7), into WORK/python, relocatable.
# Nothing of WORK's path or of the time remains in what it makes: two directories give the same bytes.
# Arguments: the directory with the unpacked sources, WORK (absolute), and the directory of the zig compiler.
set -eu
sources=$1 work=$2 zig=$3/zig
rm -rf "$work/tools" "$work/deps" "$work/python" "$work/objects"
mkdir -p "$work/tools" "$work/deps/include" "$work/deps/lib" "$work/objects"
deps=$work/deps
# The flags are the compiler's own, not CFLAGS: CPython stores those in its sysconfig, with the paths of this machine.
# -Wno-date-time: zig takes __DATE__ for an error; here it is SOURCE_DATE_EPOCH.
cat >"$work/tools/bundle-cc" <<EOF
#!/bin/sh
exec "$zig" cc -target x86_64-linux-gnu.2.17 -Wno-date-time -Wno-unused-command-line-argument \
    -ffile-prefix-map="$work"=/bundle "\$@" -I"$deps/include" -L"$deps/lib"
EOF
for tool in ar ranlib; do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$work/tools/bundle-$tool"
done
chmod +x "$work"/tools/*
PATH=$work/tools:$PATH
export PATH CC=bundle-cc AR=bundle-ar RANLIB=bundle-ranlib CFLAGS="-O2 -fPIC" LC_ALL=C TZ=UTC
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

compile() { # a package: runs make_PACKAGE in a copy of its source
    echo "compile: $1"
    rm -rf "$work/objects/$1"
    cp -Rp "$sources/$1" "$work/objects/$1"
    # In the background: where its status is asked for, the shell would go on after a command that fails.
    (cd "$work/objects/$1" && "make_$1") >"$work/$1.log" 2>&1 &
    wait $! || {
        tail -n 20 "$work/$1.log" >&2
        echo "$1 does not compile: $work/$1.log has all lines." >&2
        exit 1
    }
}

make_zlib() {
    ./configure --static --prefix="$deps"
    make libz.a
    cp zlib.h zconf.h "$deps/include"
    cp libz.a "$deps/lib"
}

make_bzip2() {
    make CC="$CC" AR="$AR" RANLIB="$RANLIB" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64" libbz2.a
    cp bzlib.h "$deps/include"
    cp libbz2.a "$deps/lib"
}

make_xz() { # with xzdec: the header of the bundle unpacks with it, so that the node needs neither xz nor gzip
    LDFLAGS=-s ./configure -q --prefix="$deps" --disable-shared --disable-xz --disable-lzmadec --disable-lzmainfo \
        --disable-scripts --disable-doc --disable-nls
    make -j"$jobs"
    make install
}

make_libffi() { # its static trampolines do not compile with zig
    ./configure -q --prefix="$deps" --disable-shared --with-pic --disable-docs --disable-exec-static-tramp
    make -j"$jobs"
    make install
}

make_sqlite() {
    [ -f sqlite3.c ] || {
        CC=cc CFLAGS=-O ./configure --disable-tcl --disable-readline
        make sqlite3.c
    }
    "$CC" -O2 -fPIC -DSQLITE_THREADSAFE=1 -c sqlite3.c -o sqlite3.o
    "$AR" rcs "$deps/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h "$deps/include"
}

# Without what Python's ssl cannot use, and without algorithms that no TLS of today uses. A node's openssl.cnf is for the
# node's OpenSSL; its certificates are for all.
make_openssl() {
    without="shared tests apps docs autoload-config module engine legacy quic dtls srtp cms cmp ts ct ocsp http comp srp
        aria bf blake2 camellia cast dsa ec2m gost idea md4 mdc2 ocb rc2 rc4 rc5 rmd160 seed siphash siv sm2 sm3 sm4
        whirlpool argon2 slh-dsa"
    # shellcheck disable=SC2046,SC2086 # lists of words
    ./Configure linux-x86_64 $(printf 'no-%s ' $without) --prefix=/bundle/deps --libdir=lib --openssldir=/etc/pki/tls
    make -j"$jobs" build_libs
    make install_dev DESTDIR="$work/objects/openssl-installed"
    cp -R "$work/objects/openssl-installed/bundle/deps/." "$deps"
}

make_python() {
    # else the headers of this machine are found, and no library for the old glibc
    for module in _uuid _curses _curses_panel readline _dbm _gdbm _tkinter; do
        export "py_cv_module_$module=n/a"
    done
    export LIBFFI_CFLAGS=' ' LIBFFI_LIBS=-lffi ZLIB_CFLAGS=' ' ZLIB_LIBS=-lz BZIP2_CFLAGS=' ' BZIP2_LIBS=-lbz2
    export LIBLZMA_CFLAGS=' ' LIBLZMA_LIBS=-llzma LIBSQLITE3_CFLAGS=' ' LIBSQLITE3_LIBS='-lsqlite3 -lm'
    export OPT="-DNDEBUG -O2" CFLAGS=-fPIC
    LDFLAGS=-s ./configure --prefix=/racwire --with-openssl="$deps" --without-ensurepip --disable-test-modules \
        --with-readline=no
    make -j"$jobs"
    make install PYTHON_FOR_BUILD=: DESTDIR="$work/objects/installed" # tree.py compiles the modules
}

# Side by side: most of the time goes to configure, which uses one processor.
waiting=
for library in zlib bzip2 xz libffi sqlite openssl; do
    compile "$library" &
    waiting="$waiting $!"
done
for process in $waiting; do wait "$process"; done
compile python
mv "$work/objects/installed/racwire" "$work/python"
