#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom. The pipeline's folders point one way; libbpf stays where the kernel is spoken to.
# shellcheck source=tests/lint/lint.sh
. tests/lint/lint.sh || exit

# A folder of userspace/, and the others that it may include. Everybody may include include/txtrace/.
law='
base:
event:     base
merge:     event base
attribute: event base
log:       base
analyze:   log base
export:    analyze log base
import:    log base
sql:       export analyze log base
fleet:     sql analyze log base
otlp:      base
cli:       otlp fleet sql import export analyze log base
ring:      event base
attach:    event base
record:    attach ring event merge attribute log analyze export import sql otlp fleet cli base
main:      record attach ring event merge attribute log analyze export import sql otlp fleet cli base
'
# A large folder has floors of its own: what lies in it, or in a folder in it, and the others of its folders that it may include. '.' stands for what lies in it
# itself.
floors='
log/format:
log/file:         format
log/write:        file format
log/read:         format
log/copy:         read write file format
analyze/.:
analyze/cost:    .
analyze/wait:     .
analyze/tree:     .
analyze/label:    tree .
analyze/span:     wait .
analyze/thread:   tree wait .
analyze/compare:  wait .
analyze/files:    .
analyze/live:     tree .
cli/.:
cli/files:        .
cli/print:        files .
cli/verdict:      view print files .
cli/top:          print files .
cli/view:         print files .
cli/serve:        .
cli/commands:     serve view top verdict print files .
attach/process:
attach/elf:       process
attach/code:      elf process
attach/otel:      elf process
attach/probes:    elf process
attach/unmodified: probes code elf process
attach/.:         unmodified probes otel code elf process
record/messages:
record/sandbox:
record/stacks:
record/flight:
record/options:   flight messages
record/kernel:    options
record/targets:   kernel messages
record/cost:      targets kernel messages
record/service:   options messages
record/.:         service cost targets kernel options flight stacks sandbox messages
record/report:    kernel options sandbox messages .
'
may_use_libbpf=' ring attach record '

# read_table TEXT: its lines "NAME: WORDS" into the array `allowed`, each as " WORDS ".
read_table() {
	local name words
	allowed=()
	while IFS=: read -r name words; do
		[ -z "$name" ] || allowed[$name]=" $words "
	done <<<"$1"
}
declare -A allowed

# includes PATTERN...: "file:line:included" for every #include of these files, with < or " before what is included.
includes() {
	files "$@" | xargs grep -nHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' /dev/null | sed -E 's/^([^:]+:[0-9]+:).*([<"])/\1\2/'
}

folder_law() {
	local file line what folder target
	read_table "$law"
	includes 'userspace/*.c' 'userspace/*.h' | while IFS=: read -r file line what; do
		folder=${file#*/} folder=${folder%%/*}
		[ -n "${allowed[$folder]:-}" ] || echo "$file: the folder $folder is not in the table of tests/lint/includes.sh"
		case $what in
		'"txtrace/'* | '"txtrace.h' | '"gen/'* | *.pb-c.h | *.skel.h | '"view_assets.h' | '<'*) continue ;;
		'"'*/*) target=${what#\"} target=${target%%/*} ;;
		*) echo "$file:$line: ${what#\"}: say \"folder/file.h\"" && continue ;;
		esac
		case " $folder ${allowed[$folder]:-} " in
		*" $target "*) [ -e "userspace/${what#\"}" ] || echo "$file:$line: ${what#\"} does not exist" ;;
		*) echo "$file:$line: $folder/ must not include ${what#\"}" ;;
		esac
	done
}

# find_floor PATH: leaves in `floor` the folder within the folder of userspace/ that this file lies in, as in
# the table.
find_floor() {
	case $1 in
	*/*/*) floor=${1#*/} floor=${1%%/*}/${floor%%/*} ;;
	*) floor=${1%%/*}/. ;;
	esac
}

floors_law() {
	local file line what floor mine
	read_table "$floors"
	includes 'userspace/log/*.[ch]' 'userspace/analyze/*.[ch]' 'userspace/cli/*.[ch]' | while IFS=: read -r file line what; do
		file=${file#userspace/} what=${what#\"}
		find_floor "$file"
		mine=$floor
		[ -n "${allowed[$mine]:-}" ] || echo "userspace/$file: the folder $mine is not in the table of tests/lint/includes.sh"
		[ "${what%%/*}" = "${file%%/*}" ] || continue
		find_floor "$what"
		case " ${mine#*/} ${allowed[$mine]:-} " in
		*" ${floor#*/} "*) ;;
		*) echo "userspace/$file:$line: $mine must not include $what" ;;
		esac
	done
}

# record/ drives the pipeline; of cli/ it takes what prints, no command.
no_commands_in_record() {
	includes 'userspace/record/*.[ch]' | grep -E '"cli/commands/' | sed 's/$/: a command of txtrace/'
}

libbpf_law() {
	local file line what folder
	includes 'userspace/*.c' 'userspace/*.h' | while IFS=: read -r file line what; do
		folder=${file#*/} folder=${folder%%/*}
		case $what in
		'<bpf/'* | '<linux/bpf'* | *.skel.h | '<gelf.h' | '<libelf.h' | '<elfutils/'* | '<dwarf.h')
			case $may_use_libbpf in *" $folder "*) ;; *) echo "$file:$line: $folder/ must not include ${what#?}" ;; esac
			;;
		esac
	done
}

# The BPF programs see the kernel's types through our hand-kept vmlinux.h only, so that they build on a machine without BTF or kernel headers.
bpf_law() {
	local file line what
	includes 'bpf/*.[ch]' | while IFS=: read -r file line what; do
		case $what in
		'"vmlinux.h' | '<vmlinux.h' | '<bpf/'* | '"txtrace/event.h' | '<txtrace/event.h' | '"txtrace/syscalls.h' | '"txtrace/foreign.h' | '"txtrace/mark_ring.h' | '"txtrace/otel.h' | '"txtrace/socket.h' | '"txtrace/symbol.h' | '"txtrace/state_clock.h') ;;
		*)
			[ -e "bpf/${what#\"}" ] || echo "$file:$line: bpf/ must not include ${what#?}"
			;;
		esac
	done
	includes 'vmlinux/*.h'
}

# Users copy these files: each stands alone.
public_law() {
	local file line what
	includes 'include/*.h' | while IFS=: read -r file line what; do
		case $what in
		'"'*) echo "$file:$line: a public header must not include ${what#\"}" ;;
		esac
	done
}

# What the tests trace is a user's program: it knows include/txtrace.h and its own headers.
programs_law() {
	local file line what
	includes 'tests/programs/*.[ch]' | while IFS=: read -r file line what; do
		case $what in
		'<'* | '"txtrace.h') ;;
		'"'*) [ -e "tests/programs/${what#\"}" ] || echo "$file:$line: a traced program must not include ${what#\"}" ;;
		esac
	done
}

# proven_by_build HEADER: whether the build has compiled it ahead of all else in the source of its name, and
# neither has changed since then. The build's options are those below.
proven_by_build() {
	local source=${1%.h}.c first
	local object=$BUILD/${source%.c}.o
	[ "$source" -ot "$object" ] && [ "$1" -ot "$object" ] || return
	first=$(grep -m1 -E '^[[:space:]]*#' "$source")
	[ "$first" = "#include \"${1#userspace/}\"" ]
}

headers_stand_alone() {
	local file
	for file in $(files 'userspace/*.h' 'include/*.h'); do
		case $file in include/*) set -- ;; *) set -- -Iuserspace "-I$BUILD/gen" ;; esac
		! proven_by_build "$file" || continue
		[ -d "$BUILD/gen" ] || ! grep -qE '^#include "[a-z_]+\.(pb-c|skel)\.h"' "$file" || continue
		echo "#include \"$file\"" | ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes -Iinclude -I. "$@" -fsyntax-only -x c - ||
			echo "$file does not compile by itself"
	done
}

rule "the folders of userspace/ include only what they may" folder_law
rule "the folders within log/, analyze/ and cli/ include only what they may" floors_law
rule "record/ includes no command" no_commands_in_record
rule "only ring/, attach/ and record/ include libbpf and libelf" libbpf_law
rule "bpf/ knows the kernel by vmlinux.h only" bpf_law
rule "public headers include nothing of ours by quotes" public_law
rule "traced programs include txtrace.h and their own headers" programs_law
rule "every header compiles by itself" headers_stand_alone
finish
