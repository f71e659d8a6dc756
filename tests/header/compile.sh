#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What compiles and what must not: labels that are no literals, other standards and options, TXTRACE_DISABLE, the examples of the documentation.
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

# ---- what must not compile ----

# A statement in a function that has these variables.
write_statement() { # write_statement STATEMENT
	cat >"$scratch/statement.c" <<-END
		#include "txtrace.h"
		void f(const char *label, char *buffer, txtrace_span_t s);
		struct pair { int a, b; };
		static const char constant[] = "constant";
		void f(const char *label, char *buffer, txtrace_span_t s)
		{
			struct pair pair = {1, 2};
			(void)label; (void)buffer; (void)s; (void)constant; (void)pair;
			$1
		}
	END
}

compiles_everywhere() { # compiles_everywhere STATEMENT
	local compiler
	write_statement "$1"
	for compiler in gcc clang "g++ -x c++" "clang++ -x c++"; do
		# shellcheck disable=SC2086
		$compiler -w -Iinclude $2 -fsyntax-only "$scratch/statement.c" || return
	done
}

compiles_nowhere() { # compiles_nowhere STATEMENT: nor with TXTRACE_DISABLE
	local compiler
	write_statement "$1"
	for compiler in gcc clang "g++ -x c++" "clang++ -x c++"; do
		for disable in "" $2; do
			# shellcheck disable=SC2086
			! $compiler -w -Iinclude $disable -fsyntax-only "$scratch/statement.c" 2>/dev/null || {
				echo "$compiler $disable compiles it"
				return 1
			}
		done
	done
}

while IFS='|' read -r literal other; do
	check "with a literal it compiles: $literal" compiles_everywhere "$literal" ""
	check "without it does not: $other" compiles_nowhere "$other" -DTXTRACE_DISABLE
done <<'END'
TXTRACE_SPAN("label");|TXTRACE_SPAN(label);
TXTRACE_SPAN_AS(t, "label");|TXTRACE_SPAN_AS(t, constant);
TXTRACE_SPAN_CHILD_AS(t, "label", s);|TXTRACE_SPAN_CHILD_AS(t, label, s);
s = TXTRACE_BEGIN("la" "bel");|s = TXTRACE_BEGIN(label);
s = TXTRACE_BEGIN("label");|s = TXTRACE_BEGIN(buffer);
s = TXTRACE_BEGIN("label");|s = TXTRACE_BEGIN(__func__);
s = TXTRACE_BEGIN("label");|s = TXTRACE_BEGIN(0);
s = TXTRACE_BEGIN_CHILD("label", s);|s = TXTRACE_BEGIN_CHILD(label, s);
s = TXTRACE_BEGIN_DETACHED("label", 0);|s = TXTRACE_BEGIN_DETACHED(constant, 0);
TXTRACE_ATTR(s, "name", 1);|TXTRACE_ATTR(s, label, 1);
TXTRACE_EVENT(s, "name");|TXTRACE_EVENT(s, buffer);
TXTRACE_COUNTER("name", 1);|TXTRACE_COUNTER(label, 1);
TXTRACE_LINK(s, s, "name");|TXTRACE_LINK(s, s, label);
TXTRACE_KEY_BEGIN("label", buffer, 1);|TXTRACE_KEY_BEGIN(label, buffer, 1);
TXTRACE_KEY_EVENT(buffer, 1, "name");|TXTRACE_KEY_EVENT(buffer, 1, label);
END
check "an attribute of a struct does not compile" compiles_nowhere 'TXTRACE_ATTR(s, "pair", pair);' ""
check "a tag that is no string does not compile" compiles_nowhere 'TXTRACE_TAG(s, pair);' ""

# ---- other ways to compile ----

stories_are_true() { # stories_are_true COMPILER FLAG...
	build_stories "$1" "$scratch/stories" "${@:2}" && "$scratch/stories"
}

check "the macros are right with -masm=intel" stories_are_true gcc -O2 -masm=intel
check "the macros are right with -masm=intel, clang" stories_are_true clang -O2 -masm=intel
check "the macros are right with -mcmodel=large" stories_are_true gcc -O2 -mcmodel=large
check "the macros are right without unwind tables" stories_are_true gcc -O2 -g -fno-asynchronous-unwind-tables
check "the macros are right with -finstrument-functions" stories_are_true gcc -O0 -finstrument-functions
check "the macros are right with GNU as behind clang" stories_are_true clang -O2 -fno-integrated-as

syntax() { # syntax COMPILER FLAG...: no warning in any use of a macro
	# shellcheck disable=SC2086
	"$1" $warnings -Iinclude "${@:2}" -fsyntax-only -x "$language" $source
}

language=c++ source="$here/macro_stories.c $here/macro_other.c"
for standard in c++11 c++14 c++20 c++2b; do
	for compiler in g++ clang++; do
		check "no warning with $compiler -std=$standard" syntax $compiler -std=$standard
	done
done
check "no warning about casts with g++" syntax g++ -std=c++17 -Wsign-conversion -Wdouble-promotion -Weffc++
check "no exceptions, no RTTI" syntax g++ -std=c++17 -fno-exceptions -fno-rtti
language=c
for compiler in gcc clang; do
	check "no warning with $compiler -std=c2x" syntax $compiler -std=c2x
	check "no warning about casts with $compiler" syntax $compiler -std=c11 -Wsign-conversion -Wcast-qual -Wbad-function-cast -Wundef
done
source=$here/untraced_path.c
for compiler in gcc clang; do
	check "no warning, no library with $compiler -ffreestanding" syntax $compiler -std=c11 -ffreestanding -Wmissing-prototypes -Wredundant-decls -Wundef
done

includes_alone() {
	printf '#include "txtrace.h"\n' >"$scratch/alone.c"
	same "stddef.h stdint.h " "$(sed -n 's/^#include <\(.*\)>/\1/p' include/txtrace.h | tr '\n' ' ')" &&
		gcc -std=c11 -pedantic-errors -Iinclude -fsyntax-only "$scratch/alone.c"
}
check "it includes stddef.h and stdint.h alone" includes_alone

in_extern_c() {
	printf 'extern "C" {\n#include "txtrace.h"\n}\nvoid f(txtrace_span_t s) { TXTRACE_SPAN("a"); TXTRACE_ATTR(s, "n", 1); }\n' >"$scratch/extern.cpp"
	# shellcheck disable=SC2086
	g++ $warnings -Iinclude -fsyntax-only "$scratch/extern.cpp" && clang++ $warnings -Iinclude -fsyntax-only "$scratch/extern.cpp"
}
check "it may be included within extern \"C\"" in_extern_c

beside_sdt() { # beside_sdt INCLUDE...: probes of both in one program, in either order
	{
		printf '#include <%s>\n' "$@"
		printf 'int main(void) { TXTRACE_SPAN("main"); DTRACE_PROBE1(other, mark, 1); return 0; }\n'
	} >"$scratch/beside.c"
	gcc -Iinclude -O2 -flto "$scratch/beside.c" -o "$scratch/beside" && "$scratch/beside" &&
		same "1 other 16 txtrace" "$(readelf -n "$scratch/beside" | awk '$1 == "Provider:" { count[$2]++ } END { print count["other"] " other " count["txtrace"] " txtrace" }')" &&
		same 1 "$(readelf -n "$scratch/beside" | grep -o 'Base: 0x[0-9a-f]*' | sort -u | wc -l)"
}
if echo '#include <sys/sdt.h>' | gcc -fsyntax-only -x c - 2>/dev/null; then
	check "it goes after sys/sdt.h" beside_sdt sys/sdt.h txtrace.h
	check "it goes before sys/sdt.h" beside_sdt txtrace.h sys/sdt.h
else
	skip "it goes with sys/sdt.h" "there is no sys/sdt.h (package systemtap-sdt-dev)"
fi

precompiled() { # precompiled COMPILER OUTPUT FLAG
	mkdir -p "$scratch/$1" && cp include/txtrace.h "$scratch/$1" && "$1" -O1 -x c-header "$scratch/$1/txtrace.h" -o "$scratch/$1/$2" || return
	printf '#include "txtrace.h"\nint main(void) { TXTRACE_SPAN("main"); return 0; }\n' >"$scratch/precompiled.c"
	# shellcheck disable=SC2086
	"$1" -O1 -Winvalid-pch -Werror "-I$scratch/$1" ${3:+$3 "$scratch/$1/$2"} "$scratch/precompiled.c" -o "$scratch/precompiled" &&
		same 16 "$(readelf -n "$scratch/precompiled" | grep -c 'Provider: txtrace')"
}
check "it can be precompiled by gcc" precompiled gcc txtrace.h.gch ""
check "it can be precompiled by clang" precompiled clang txtrace.h.pch -include-pch

cpp_needs_no_library() { # an object without exceptions of its own needs nothing of the C++ library; a clock it takes from the C library
	"$1" -x c++ -std=c++17 -O0 -Iinclude -DPART=alone -c $here/id_part.c -o "$scratch/alone.o" && same "" "$(nm -u "$scratch/alone.o" | grep -vE "_GLOBAL_OFFSET_TABLE_| clock_gettime$")"
}
for compiler in g++ clang++; do
	check "the macros need no C++ library with $compiler" cpp_needs_no_library $compiler
done

# ---- nothing ----

is_nothing() { # is_nothing COMPILER: no symbol, no note, no evaluation; the stories without their tracer
	build_stories "$1" "$scratch/nothing" -O0 -DTXTRACE_DISABLE && "$scratch/nothing" &&
		same "" "$(nm "$scratch/nothing" | grep txtrace_)" && same "" "$(readelf -n "$scratch/nothing" | grep Provider)"
}
for compiler in gcc clang g++ clang++; do
	check "with TXTRACE_DISABLE nothing is left by $compiler" is_nothing $compiler
done

disabled_on() { # disabled_on FLAG: a machine that there are no probes for
	printf '#include "txtrace.h"\n_Static_assert(!TXTRACE_IS_COMPILED_IN, "");\nint f(int n);\nint f(int n) { TXTRACE_SPAN_AS(s, "a"); TXTRACE_ATTR(s, "n", n++); return n; }\n' >"$scratch/other.c"
	# shellcheck disable=SC2086
	clang $warnings -std=c11 -ffreestanding "$1" -Iinclude -c "$scratch/other.c" -o "$scratch/other.o"
}
for flag in -m32 --target=riscv64-linux-gnu --target=powerpc64le-linux-gnu --target=x86_64-apple-macos --target=x86_64-w64-windows-gnu; do
	check "it compiles to nothing with clang $flag" disabled_on $flag
done

# ---- documentation ----

# blocks LANGUAGE: the examples of the page that are marked as such.
blocks() {
	awk -v fence="^\`\`\`$1\$" '/^```$/ { inside = 0 } inside { print } $0 ~ fence { inside = 1 }' docs/macros.md
}

examples_compile() { # examples_compile LANGUAGES COMPILER FLAG...
	local languages=$1 part
	shift
	for part in $languages; do blocks "$part"; done >"$scratch/examples.c"
	# shellcheck disable=SC2086
	"$@" $warnings -Iinclude -O1 -c "$scratch/examples.c" -o "$scratch/examples.o"
}

for disable in "" -DTXTRACE_DISABLE; do
	# shellcheck disable=SC2086
	{
		check "the examples of docs/macros.md are C11 ${disable:-, traced}" examples_compile "c" gcc -std=c11 $disable
		check "the examples of docs/macros.md are C++17 ${disable:-, traced}" examples_compile "c cpp" g++ -x c++ -std=c++17 $disable
	}
done

documents_every_macro() {
	local macro
	for macro in $(sed -n 's/^#define \(TXTRACE_[A-Z_]*[A-Z]\)(.*/\1/p' include/txtrace.h | sort -u); do
		{ blocks c && blocks cpp; } | grep -q "\b$macro(" || echo "no example has $macro"
		grep -q "^| \[\`$macro(" docs/macros.md || echo "the table lacks $macro"
	done >"$scratch/undocumented"
	same "" "$(cat "$scratch/undocumented")"
}
check "docs/macros.md shows every macro" documents_every_macro

finish
