#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the linker leaves for tracers to find: one note per probe and object however many uses there are, the exact bytes at each site, the semaphore; and what
# a mark costs in machine code when nobody traces.
# shellcheck source=tests/header/header_test.sh
. "$(dirname "$0")/header_test.sh" || exit

machine=$(uname -m)
case $machine in
x86_64) first='8@%rdi' second='8@%rsi' third='8@%rdx' fourth='8@%rcx' fifth='8@%r8' ;;
aarch64) first='8@x0' second='8@x1' third='8@x2' fourth='8@x3' fifth='8@x4' ;;
*)
	skip "notes" "the header compiles to nothing on $machine"
	finish
	;;
esac

expected_notes="txtrace begin $first $second $third
txtrace begin_detached $first $second $third
txtrace enter $first
txtrace exit $first
txtrace end $first
txtrace tag $first $second
txtrace attr $first $second $third $fourth
txtrace event $first $second
txtrace counter $first -$second
txtrace link $first $second $third
txtrace key_begin $first $second $third
txtrace key_enter $first $second
txtrace key_exit $first $second
txtrace key_end $first $second
txtrace key_event $first $second $third
txtrace ring $first $second $third $fourth $fifth"

# ---- 10,000 uses ----

# A file with 1,000 uses, 40 of each in 25 ways.
write_uses() { # write_uses NAME
	awk -v name="$1" 'BEGIN {
		print "#include \"txtrace.h\"\nint " name "(txtrace_span_t s, const char *key);\nint " name "(txtrace_span_t s, const char *key)\n{"
		for (i = 0; i < 40; i++) {
			print "\t{ TXTRACE_SPAN(\"a" i "\"); TXTRACE_SPAN(\"b\"); TXTRACE_SPAN_AS(t, \"c\"); TXTRACE_TAG(t, \"tag\"); TXTRACE_EVENT(t, \"e\"); }"
			print "\t{ txtrace_span_t c = TXTRACE_BEGIN_CHILD(\"d" i "\", s), d = TXTRACE_BEGIN_DETACHED(\"e\", s);"
			print "\tTXTRACE_ENTER(d); TXTRACE_EXIT(d); TXTRACE_LINK(c, d, \"l\"); TXTRACE_END(c); TXTRACE_END(d); }"
			print "\tTXTRACE_ATTR(s, \"n\", " i "); TXTRACE_ATTR(s, \"f\", 0.5); TXTRACE_ATTR(s, \"t\", key); TXTRACE_ATTR(s, \"p\", &s);"
			print "\tTXTRACE_COUNTER(\"n\", " i "); TXTRACE_COUNTER(\"m\", " i "); TXTRACE_TAG(s, key); TXTRACE_EVENT(s, \"f\");"
			print "\tTXTRACE_KEY_BEGIN(\"k\", key, 3); TXTRACE_KEY_ENTER(key, 3); TXTRACE_KEY_EXIT(key, 3); TXTRACE_KEY_EVENT(key, 3, \"x\"); TXTRACE_KEY_END(key, 3);"
		}
		print "\treturn 0;\n}"
	}' >"$scratch/$1.c"
}

build_uses() { # ten files, by each of the compilers, in one executable and in one library
	local i compilers=(gcc clang g++ clang++)
	for i in 0 1 2 3 4 5 6 7 8 9; do
		write_uses uses$i
		"${compilers[i % 4]}" -Iinclude -O1 -w -fPIC -c "$scratch/uses$i.c" -o "$scratch/uses$i.o" || return
	done
	cat "$scratch"/uses?.c | grep -o 'TXTRACE_[A-Z_]*' | wc -l >"$scratch/use_count"
	echo 'int main(void) { return 0; }' | g++ -x c++ - -x none "$scratch"/uses?.o -o "$scratch/uses" &&
		g++ -shared -Wl,-z,defs "$scratch"/uses?.o -o "$scratch/uses.so"
}

# notes FILE: `provider name arguments` of each note in the file, in the order of the file.
notes() {
	readelf -n "$1" | awk '$1 == "Provider:" { provider = $2 } $1 == "Name:" { name = $2 } $1 == "Arguments:" { $1 = ""; print provider " " name $0 }'
}

has_one_note_per_probe() {
	same "$expected_notes" "$(notes "$1")"
}

# Each note's address is its probe's, its base the section .stapsdt.base; the semaphores lie next to each other, that of the ring behind the other.
notes_point_right() {
	local address_of='{ address[$3] = $1 }'
	same "" "$({
		nm "$1"
		readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \.stapsdt\.base *[A-Z]* *\([0-9a-f]*\) .*/\1 - base/p'
		readelf -n "$1"
	} | awk "NF == 3 && \$1 ~ /^[0-9a-f]+\$/ $address_of"'
		$1 == "Name:" { name = $2 }
		$1 == "Location:" {
			gsub(/0x|,/, "")
			semaphore = address["txtrace_switches"]
			last = index("048c", substr(semaphore, length(semaphore)))
			if (name == "ring") semaphore = substr(semaphore, 1, length(semaphore) - 1) substr("26ae", last, 1)
			if ($2 != address["txtrace_site_" name] || $4 != address["base"] || $6 != semaphore || !last) print name ": " $0
			count++
		}
		END { if (count != 16) print count " notes" }')"
}

semaphore_is_in_the_file() {
	readelf -SW "$1" | grep -E ' \.probes +PROGBITS .* WAG? ' >/dev/null || readelf -SW "$1"
}

has_ten_thousand_uses() {
	[ "$(cat "$scratch/use_count")" -ge 10000 ]
}

check "10,000 uses in ten files of four compilers make one executable and one library" build_uses
check "they are 10,000" has_ten_thousand_uses
check "the executable has one note per probe" has_one_note_per_probe "$scratch/uses"
check "its notes point to the probes, the base and the one semaphore" notes_point_right "$scratch/uses"
check "the semaphore is in the file and writable" semaphore_is_in_the_file "$scratch/uses"
check "the library has one note per probe" has_one_note_per_probe "$scratch/uses.so"
check "the library's notes point to its probes, base and semaphore" notes_point_right "$scratch/uses.so"

survives_strip() { # survives_strip FILE COMMAND...
	cp "$1" "$scratch/stripped" && "${@:2}" "$scratch/stripped" && has_one_note_per_probe "$scratch/stripped"
}

check "the notes survive strip" survives_strip "$scratch/uses" strip
check "the notes survive strip of a library" survives_strip "$scratch/uses.so" strip
check "the notes survive llvm-strip --strip-unneeded" survives_strip "$scratch/uses" llvm-strip --strip-unneeded
check "the notes survive llvm-strip with --keep-section" survives_strip "$scratch/uses" llvm-strip --strip-all --keep-section=.note.stapsdt

# ---- bytes ----

# bytes FILE: `probe offset-in-16 bytes` for each probe, as objdump reads them.
bytes() {
	objdump -d "$1" | awk '
		/<txtrace_site_[a-z_]*>:$/ { name = $2; gsub(/^<txtrace_site_|>:$/, "", name); printf "%s%s %s", line_end, name, substr($1, length($1)); is_probe = 1; line_end = "\n"; next }
		/^$/ || />:$/ { is_probe = 0 }
		is_probe { split($0, columns, "\t"); gsub(/ +$/, "", columns[2]); printf " %s", columns[2] }
		/ret/ { is_ended = 1 }
		END { print "" }'
}

expected_bytes() {
	local name number=0
	for name in begin begin_detached enter exit end tag attr event counter link key_begin key_enter key_exit key_end key_event ring; do
		number=$((number + 1))
		case $machine in
		x86_64) printf '%s 0 90 0f 1f 44 00 00 66 2e 0f 1f 84 00 00 00 00 00 c3 0f 1f 40 %02x\n' $name $number ;;
		aarch64) printf '%s 0 d503201f d65f03c0 %08x\n' $name $number ;;
		esac
	done
}

# Behind a probe the linker fills up with nops: only as many bytes as a probe has are compared.
has_exact_bytes() {
	local columns=23
	[ "$machine" = x86_64 ] || columns=5
	same "$(expected_bytes | sort)" "$(bytes "$1" | cut -d' ' -f1-$columns | sort)"
}

check "the executable's sites have the bytes that tracers look for" has_exact_bytes "$scratch/uses"
check "the library's sites have them too" has_exact_bytes "$scratch/uses.so"

# ---- other ways of linking ----

# Other linkers and their ways of dropping, folding and optimising; the stories must stay true and each probe must keep an address of its own.
survives() { # survives COMPILER FLAG...
	build_stories "$1" "$scratch/linked" -O2 -ffunction-sections -fdata-sections "${@:2}" && "$scratch/linked" || return
	same 16 "$(readelf -n "$scratch/linked" | awk '$1 == "Location:" && $2 !~ /^0x0*,$/ { print $2 }' | sort -u | wc -l)"
}

has_the_notes_once() { # has_the_notes_once COMPILER FLAG...: a program that only begins and ends may mark all else, too
	printf '#include "txtrace.h"\nint main(void) { TXTRACE_SPAN("main"); return 0; }\n' >"$scratch/one.c"
	"$1" -Iinclude -O2 "${@:2}" -Wl,--gc-sections "$scratch/one.c" -o "$scratch/one" &&
		has_one_note_per_probe "$scratch/one"
}

check "ld --gc-sections keeps each probe and its note" has_the_notes_once gcc
for linker in bfd gold lld; do
	for flags in "-Wl,--gc-sections" "-Wl,--icf=all"; do
		name="the probes survive $linker $flags"
		case $linker$flags in bfd*icf*) continue ;; esac
		if ! has "ld.$linker"; then
			skip "$name" "there is no ld.$linker (package $([ $linker = lld ] && echo lld || echo binutils))"
		else
			check "$name" survives gcc -fuse-ld=$linker "$flags"
			check "$name, C++" survives clang++ -fuse-ld=$linker "$flags"
		fi
	done
done
if has ld.lld; then
	check "ld.lld --gc-sections keeps each probe and its note" has_the_notes_once gcc -fuse-ld=lld
	check "the probes survive clang -flto=thin" survives clang -flto=thin -fuse-ld=lld
	check "the probes survive clang++ -flto=thin --gc-sections" survives clang++ -flto=thin -fuse-ld=lld -Wl,--gc-sections
else
	skip "the probes survive clang -flto=thin" "there is no ld.lld (package lld)"
fi
check "the probes survive gcc -flto in many partitions" survives gcc -flto=2 -flto-partition=max

# Objects that were linked into one object before (ld -r), twice, and then with each other.
survives_partial_links() { # survives_partial_links COMPILER
	local file
	for file in macro_stories macro_other probe_trap; do
		"$1" -Iinclude -O2 -c $here/$file.c -o "$scratch/$file.o" || return
	done
	ld -r "$scratch/macro_stories.o" "$scratch/macro_other.o" -o "$scratch/half.o" && ld -r "$scratch/half.o" -o "$scratch/other_half.o" &&
		"$1" "$scratch/other_half.o" "$scratch/probe_trap.o" -o "$scratch/linked" && "$scratch/linked" && same 16 "$(notes "$scratch/linked" | wc -l)"
}

check "the probes survive ld -r" survives_partial_links gcc

# ---- untraced ----

# From the first instruction to the first return, which is the way when no jump is taken: what is on it?
untraced_path() { # untraced_path COMPILER
	"$1" -std=c11 -O2 -Iinclude -c $here/untraced_path.c -o "$scratch/path.o" || return
	objdump -d --no-show-raw-insn "$scratch/path.o" | awk '
		/<path_of_[a-z_]*>:$/ { name = $2; gsub(/^<path_of_|>:$/, "", name); loads = branches = calls = 0; next }
		/^$/ { name = "" }
		name == "" { next }
		$2 ~ /^ret/ { print name ": " loads " loads, " branches " branches, " calls " calls"; name = ""; next }
		$2 ~ /^(j[^m]|b\.|cb|tb)/ { branches++; next }
		$2 ~ /^(call|jmp|bl?$)/ { calls++; next }
		$2 ~ /^ldr/ || ($2 !~ /^(lea|nop|cs|data16)/ && /\(%/) { loads++ }'
}

expected_path="begin: 1 loads, 1 branches, 0 calls
begin_child: 1 loads, 1 branches, 0 calls
end: 0 loads, 1 branches, 0 calls
attr: 0 loads, 1 branches, 0 calls
counter: 1 loads, 1 branches, 0 calls
key_begin: 1 loads, 1 branches, 0 calls"

for compiler in gcc clang; do
	check "untraced, a mark is at most one load and one branch with $compiler" same "$expected_path" "$(untraced_path $compiler)"
done

finish
