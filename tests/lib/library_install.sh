#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# libtxtrace as somebody else meets it: installed, found by pkg-config, linked in every way. The program is the example of docs/library.md, as it stands
# there; what it says of the golden logs is what `txtrace dump` says.
# shellcheck source=tests/lib/library_test.sh
. "$(dirname "$0")/library_test.sh" || exit

root=$tmp/root
libdir=/usr/lib/somewhere
warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror"
sed -n '/^```c$/,/^```$/{/^```/!p}' docs/library.md >"$tmp/where.c"

install_with() { # install_with TARGET VARIABLE...
	make --no-print-directory "$@" DESTDIR="$root"
}

installed() {
	(cd "$root" && find . ! -type d -printf '%m %P %l\n' | sed 's| *$||' | sort -k2)
}

files_are_there() {
	local version
	version=$(sed -n 's/^VERSION *:= *//p' Makefile)
	install_with install PREFIX=/usr LIBDIR=$libdir || return
	diff - <(installed | grep -E '/lib(txtrace|/somewhere)|libtxtrace|log(_record)?\.h|pkgconfig') <<-EOF
		644 usr/include/txtrace/log.h
		644 usr/include/txtrace/log_record.h
		644 usr/lib/somewhere/libtxtrace.a
		777 usr/lib/somewhere/libtxtrace.so libtxtrace.so.1
		755 usr/lib/somewhere/libtxtrace.so.$version
		777 usr/lib/somewhere/libtxtrace.so.1 libtxtrace.so.$version
		644 usr/lib/somewhere/pkgconfig/txtrace.pc
	EOF
}

# What a package's build sees.
pkg() {
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$libdir/pkgconfig pkg-config "$@"
}

pkg_config_knows() {
	[ "$(pkg --modversion txtrace)" = "$(sed -n 's/^VERSION *:= *//p' Makefile)" ] || fail "$(pkg --modversion txtrace)" || return
	[ "$(pkg --libs txtrace | xargs)" = "-L$root$libdir -ltxtrace" ] || fail "$(pkg --libs txtrace)" || return
	for library in -lzstd -llz4 -pthread; do
		pkg --static --libs txtrace | grep -q -e "$library\\b" || fail "$(pkg --static --libs txtrace)" || return
	done
	[ "$(PKG_CONFIG_PATH=$root$libdir/pkgconfig pkg-config --variable=includedir txtrace)" = /usr/include ]
}

needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | xargs
}

needs_little() {
	local needs
	needs=$(needed "$root$libdir/libtxtrace.so")
	[ "$needs" = "libc.so.6 liblz4.so.1 libzstd.so.1" ] || fail "it needs: $needs" || return
	if ldd "$root$libdir/libtxtrace.so" | grep -E 'libbpf|libelf'; then fail "it needs these"; fi
	readelf -d "$root$libdir/libtxtrace.so" | grep -q 'SONAME.*\[libtxtrace\.so\.1\]'
}

shared_shows() {
	diff <(declared) <(nm -D --defined-only "$root$libdir/libtxtrace.so" | awk '{ print $3 }' | sort)
}

static_shows() {
	diff <(declared) <(visible "$root$libdir/libtxtrace.a")
}

# The reader, not the writer. What both need is in it: see the first object that wants something of the writer, if this fails.
no_writer_inside() {
	local symbols
	symbols=$(nm "$root$libdir/libtxtrace.a" | awk '{ print $NF }' | grep -E '^(log_writer|log_file|batch_encoder|record_pack|shape_table|json|cli)_')
	[ -z "$symbols" ] || fail "the library holds what only a writer needs: $symbols"
}

kinds_of() { # as `txtrace dump` sees LOG
	"$BUILD/txtrace" dump "$1" | cut -d' ' -f1 | sort | uniq -c | awk '{ print $2, $1 }'
}

right_about() { # right_about LOG
	LD_LIBRARY_PATH=$root$libdir "$tmp/where" "$1" >"$tmp/counted" || return
	grep -v '^work' "$tmp/counted" | sort | diff <(kinds_of "$1") - &&
		grep -qE '^work [0-9]+ ns, on-CPU [0-9]+, blocked [0-9]+$' "$tmp/counted"
}

is_right() {
	local log
	for log in tests/golden/*.txtrace; do
		right_about "$log" || fail "$log" || return
	done
	LD_LIBRARY_PATH=$root$libdir "$tmp/where" "$tmp/nothing" 2>"$tmp/err"
	[ $? = 2 ] && [ "$(cat "$tmp/err")" = "$tmp/nothing: there is no such file" ] || fail "it said: $(cat "$tmp/err")"
}

use() { # use COMPILER LINKAGE
	local language="-std=c11"
	case $1 in *++) language="-x c++ -std=c++17" ;; esac
	rm -f "$tmp/where"
	# shellcheck disable=SC2046,SC2086 # lists of options
	case $2 in
	shared) "$1" $language $warnings $(pkg --cflags txtrace) "$tmp/where.c" -x none -o "$tmp/where" $(pkg --libs txtrace) ;;
	static)
		"$1" $language $warnings $(pkg --cflags txtrace) "$tmp/where.c" -x none -o "$tmp/where" \
			-Wl,-Bstatic $(pkg --libs txtrace) -Wl,-Bdynamic $(pkg-config --libs libzstd liblz4) -pthread
		;;
	all_static) "$1" -static $language $warnings $(pkg --cflags txtrace) "$tmp/where.c" -x none -o "$tmp/where" $(pkg --static --libs txtrace) ;;
	esac || return
	case $2 in
	shared) needed "$tmp/where" | grep -q 'libtxtrace\.so\.1' ;;
	static) ! needed "$tmp/where" | grep -q libtxtrace ;;
	all_static) [ -z "$(needed "$tmp/where")" ] ;;
	esac || fail "it needs: $(needed "$tmp/where")" || return
	is_right
}

# Names that the inside of the library uses belong to the program: as a static library, and as a shared one.
names_are_free() {
	local linkage
	nm "$root$libdir/libtxtrace.a" | awk '$2 == "t" && $3 ~ /^[a-z0-9_]+$/ && !seen[$3]++ { print "int " $3 "(void);\nint " $3 "(void) { __builtin_trap(); }" }' >"$tmp/names.c"
	grep -q crc32c "$tmp/names.c" || fail "there is no crc32c in the library: what does this test show?" || return
	gcc -c -o "$tmp/names.o" "$tmp/names.c" -fno-builtin || return
	for linkage in "$root$libdir/libtxtrace.a -lzstd -llz4 -pthread" "-rdynamic $root$libdir/libtxtrace.so"; do
		# shellcheck disable=SC2046,SC2086 # lists of options
		gcc $(pkg --cflags txtrace) "$tmp/where.c" "$tmp/names.o" -o "$tmp/where" $linkage && is_right || return
	done
}

damage_is_told() {
	head -c 3000 tests/golden/log-1.0-world-zstd.txtrace >"$tmp/cut.txtrace"
	LD_LIBRARY_PATH=$root$libdir "$tmp/where" "$tmp/cut.txtrace" >"$tmp/counted" 2>"$tmp/err" || return
	grep -qx 'damage 1' "$tmp/counted" && diff - "$tmp/err" <<-EOF
		$tmp/cut.txtrace: at byte $(sed -nE 's/.*: at byte ([0-9]+): .*/\1/p' "$tmp/err"): the file ends in the middle of a batch
		$tmp/cut.txtrace: the log was not closed: its end may be missing
	EOF
}

nothing_is_left() {
	install_with uninstall PREFIX=/usr LIBDIR=$libdir && [ -z "$(installed)" ] || fail "$(installed)"
}

elsewhere() {
	install_with install PREFIX=/opt/txtrace && grep -qx 'libdir=${prefix}/lib' "$root/opt/txtrace/lib/pkgconfig/txtrace.pc" &&
		[ -e "$root/opt/txtrace/lib/libtxtrace.so" ] && install_with uninstall PREFIX=/opt/txtrace && [ -z "$(installed)" ]
}

check "make install puts the library, its links, its header and its .pc where LIBDIR says" files_are_there
check "pkg-config knows what to compile and link with" pkg_config_knows
check "the shared library needs zstd, LZ4 and libc, nothing else" needs_little
check "the shared library shows the functions of log.h and nothing else" shared_shows
check "the static library shows the functions of log.h and nothing else" static_shows
check "the library holds no writer" no_writer_inside
for compiler in gcc g++ clang clang++; do
	if ! has $compiler; then
		skip "the example with $compiler" "there is no $compiler"
		continue
	fi
	check "the example with $compiler and the shared library" use $compiler shared
	check "the example with $compiler and the static library" use $compiler static
done
check "the example without any shared library" use gcc all_static
check "the example tells what is damaged" damage_is_told
check "names of the library's inside are the program's to use" names_are_free
check "make uninstall takes all of it away" nothing_is_left
check "without LIBDIR it is PREFIX/lib" elsewhere
finish
