#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The rules themselves: each finds what breaks it, in a small tree made for it, and leaves a sound tree alone.
# takes long: 12 s of a CPU
set -u

root=$PWD
tree=$TEST_TMPDIR/tree
number=0

# put FILE: writes stdin there, in the small tree.
put() {
	mkdir -p "$tree/$(dirname "$1")"
	cat >"$tree/$1"
}

licence='/* SPDX-License-Identifier: BSD-2-Clause */'

page='.Dd November 21, 2025
.Dt TXTRACE 1
.Os
.Sh NAME
.Nm txtrace
.Nd reads logs
.Sh DESCRIPTION
It takes
.Fl \-json
and
.Fl \-max-file-size .
.Ss report
Prints.'

# A sound tree, of which each case gets a copy.
make_sound_tree() {
	mkdir -p "$tree/tests/lint"
	cp "$root"/tests/lint/{lint,includes,shape,shell_scripts,manual,terms,dead_functions,probe_programs}.sh "$tree/tests/lint/"
	cp "$root/.shellcheckrc" "$tree/"
	put Makefile <<<"# SPDX-License-Identifier: BSD-2-Clause"
	put userspace/base/units.h <<<"$licence"
	put userspace/base/units.c <<<"$licence
#include \"base/units.h\"

int twice(int n)
{
	return 2 * n;
}"
	put userspace/cli/commands/cmd_report.h <<<"$licence"
	put userspace/cli/cli.h <<<"$licence"
	put bpf/span.bpf.c <<<'/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>'
	put include/txtrace.h <<<"$licence"
	put tests/programs/bank.c <<<"$licence
#include <txtrace.h>"
	put docs/guide.md <<<"# The guide

## Where it is

See [the units](../userspace/base/units.h) and [above](#where-it-is),
in userspace/base/units.c."
	put docs/txtrace.1 <<<"$page"
	sed 's/TXTRACE/TXTRACE-BPF/; s/txtrace/&-bpf/' "$tree/docs/txtrace.1" | put docs/txtrace-bpf.1
	put build/txtrace <<<'#!/bin/sh
echo "  report   prints"; echo "  --json   for machines"; echo "  --max-file-size N"'
	put build/txtrace-bpf <<<'#!/bin/sh
echo "  --json   for machines"'
	chmod +x "$tree"/build/*
	mv "$tree" "$TEST_TMPDIR/sound"
}

sound_tree() {
	rm -rf "$tree"
	cp -r "$TEST_TMPDIR/sound" "$tree"
}

# lint LINT: runs it in the small tree.
lint() {
	(cd "$tree" && BUILD=$tree/build GIT_CEILING_DIRECTORIES=$TEST_TMPDIR bash "tests/lint/$1.sh" 2>&1)
}

holds() { # holds LINT
	local out
	sound_tree
	out=$(lint "$1")
	number=$((number + 1))
	if grep -q '^ok' <<<"$out" && ! grep -q '^not ok' <<<"$out"; then
		echo "ok $number - $1 holds in a sound tree"
	else
		echo "not ok $number - $1 holds in a sound tree"
		sed 's/^/# /; s/^# not ok/# broken:/' <<<"$out"
	fi
}

# breaks LINT RULE FILE [MODE [TOLD]]: FILE, with stdin in it, breaks exactly that rule, and its name (or TOLD) is told.
breaks() {
	local out broken
	sound_tree
	put "$3"
	[ "${4:-}" = "" ] || chmod "$4" "$tree/$3"
	out=$(lint "$1")
	broken=$(grep '^not ok' <<<"$out" | sed 's/^not ok [0-9]* - //')
	number=$((number + 1))
	if [ "$broken" = "$2" ] && grep -q "^# .*${5:-$3}" <<<"$out"; then
		echo "ok $number - $1: $2"
	else
		echo "not ok $number - $1: $2"
		sed 's/^/# /; s/^# not ok/# broken:/' <<<"$out"
	fi
}

lines() { # lines N TEXT
	yes "$2" | head -n "$1"
}

make_sound_tree
holds includes
holds shape
holds shell_scripts
holds manual
holds terms

folders="the folders of userspace/ include only what they may"
breaks includes "$folders" userspace/log/format/batch.c <<<'#include "base/units.h"
#include "merge/merge.h"'
breaks includes "$folders" userspace/base/strings.c <<<'#include "log/batch.h"'
breaks includes "$folders" userspace/base/strings.c <<<'#include "units.h"'
breaks includes "$folders" userspace/newcomer/strings.c <<<'#include "base/units.h"'
breaks includes "record/ includes no command" userspace/record/record.c <<<'#include "cli/commands/cmd_report.h"'
floors="the folders within log/, analyze/ and cli/ include only what they may"
breaks includes "$floors" userspace/cli/command.c <<<'#include "cli/commands/cmd_report.h"'
breaks includes "$floors" userspace/cli/print/command.c <<<'#include "cli/commands/cmd_report.h"'
breaks includes "$floors" userspace/cli/newcomer/command.c <<<'#include "cli/cli.h"'
breaks includes "only ring/, attach/ and record/ include libbpf and libelf" userspace/log/format/batch.c <<<'#include <bpf/libbpf.h>'
breaks includes "bpf/ knows the kernel by vmlinux.h only" bpf/sched.bpf.c <<<'#include <linux/sched.h>'
breaks includes "public headers include nothing of ours by quotes" include/txtrace/log.h <<<'#include "txtrace.h"'
breaks includes "traced programs include txtrace.h and their own headers" tests/programs/lock.c <<<'#include "base/units.h"'
breaks includes "every header compiles by itself" userspace/base/strings.h <<<'size_t length(struct strings *strings);'

breaks shape "no source or script has more than 900 lines" userspace/base/strings.c < <(echo "$licence" && lines 900 "int a;")
breaks shape "no function has more than 60 lines" userspace/base/strings.c < <(echo "$licence" && echo "int f(void)" && echo "{" && lines 59 "	g();" && echo "}")
breaks shape "no line has more than 110 columns" userspace/base/strings.c < <(echo "$licence" && printf '\t%0110d\n' 1)
breaks shape "tabs indent, and nothing trails" userspace/base/strings.c < <(printf '%s\n%8sint a;\n' "$licence" "")
breaks shape "tabs indent, and nothing trails" docs/more.md <<<"# More "
breaks shape "text files end with a newline" docs/more.md < <(printf 'more')
breaks shape "file names are unique in the tree" userspace/log/format/units.c <<<"$licence"
breaks shape "file names are snake_case" userspace/log/format/logWriter.c <<<"$licence"
breaks shape "every source names its licence" userspace/log/format/batch.c <<<"int a;"
breaks shape "every source names its licence" bpf/sched.bpf.c <<<"$licence"
breaks shape "nothing unfinished, no path of a machine" docs/more.md <<<"TO""DO: write it"
breaks shape "nothing unfinished, no path of a machine" docs/more.md <<<"It lies in /ho""me/somebody/txtrace."

if command -v shellcheck >/dev/null; then
	breaks shell_scripts "shellcheck has nothing to say" tests/cli/help.sh +x <<<'#!/bin/sh
touch $(cat list)'
fi
runnable="what is executable has a #! line, and what has one is executable"
breaks shell_scripts "$runnable" tests/cli/help.sh <<<'#!/bin/sh
echo'
breaks shell_scripts "$runnable" tests/cli/help.sh +x <<<'# shellcheck shell=sh
echo'
breaks shell_scripts "what sources a file ends without it" tests/cli/help.sh +x < <(printf '#!/bin/sh\n# shellcheck disable=SC1091\n%s tests/cli/cli.sh\n' .)
breaks shell_scripts "Python scripts parse" tests/cli/decode.py <<<'def f(:'

if command -v mandoc >/dev/null; then
	breaks manual "mandoc -Tlint has nothing to say" docs/other.1 <<<"${page/Prints/.Nosuchmacro}"
	options="every option and command of a program's help is in its man page"
	breaks manual "$options" build/txtrace +x "docs/txtrace.1 does not name --sort" <<<'#!/bin/sh
echo "  report   prints"; echo "  --json   for machines"; echo "  --sort   by"'
fi
breaks manual "links in documents resolve" docs/more.md <<<'[gone](gone.md)'
breaks manual "links in documents resolve" docs/more.md <<<'[gone](guide.md#gone)'
breaks manual "paths that documents name exist" docs/more.md <<<'See userspace/base/gone.c.'

words="documents use the standard terms"
breaks terms "$words" docs/more.md "" 'docs/more.md:3: "tells": write instead: say' <<<'# More

A log tells what happened.'
breaks terms "$words" docs/more.md "" 'docs/more.md:6: "left out"' <<<'# More

`told` and [a report](https://example.org/told) are
fine, and so is

| what | is left out |'
breaks terms "$words" docs/txtrace.1 "" 'docs/txtrace.1:14: "Nobody"' <<<"$page
Nobody reads that."
breaks terms "help texts and messages use the standard terms" userspace/base/units.c "" 'units.c:3: "whoever"' <<<"$licence
/* whoever tells it */
static const char *const help = \"for \\\"whoever\\\" reads it\", *const word = \"told\";"
breaks terms "documents have at most 80 columns outside tables and code" docs/more.md "" "docs/more.md:12: 81 columns" < <(
	printf '# %089d\n\n%0100d\n\n| %0100d |\n\n    %050d %050d\n\n```\n%050d %050d\n```\n%040d %040d\n' 1 1 1 1 1 1 1 1 1)

breaks probe_programs "every probe's program is a PROBE_PROGRAM" bpf/span.bpf.c "" 'bpf/span.bpf.c:2:SEC' <<<'/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
SEC("uprobe")
int on_begin(void *ctx) { return 0; }'

# What is built in the small tree: main() calls twice(), and what is on stdin is in another file.
finds_dead() { # finds_dead NAME BROKEN
	local out
	sound_tree
	mkdir -p "$tree/build/userspace/main"
	(cd "$tree" && cat >userspace/base/strings.c && echo 'int twice(int n); int main(void) { return twice(0); }' >userspace/main.c &&
		"${CC:-gcc}" -Iuserspace -c -o build/units.o userspace/base/units.c && "${CC:-gcc}" -c -o build/strings.o userspace/base/strings.c &&
		"${CC:-gcc}" -c -o build/userspace/main/txtrace.o userspace/main.c && ar rcs build/libpure.a build/units.o build/strings.o && ar rcs build/librecord.a)
	out=$(TEST_TMPDIR=$tree lint dead_functions)
	number=$((number + 1))
	if [ "$(grep '^# ' <<<"$out")" = "$2" ]; then
		echo "ok $number - dead_functions: $1"
	else
		echo "not ok $number - dead_functions: $1"
		sed 's/^/# /; s/^# not ok/# broken:/' <<<"$out"
	fi
}
finds_dead "a function that another file calls, and a static one" "" <<<'static int once(int n) { return n; }
int (*const choice)(int) = once;'
finds_dead "a function that no other file calls" "# strings.c: once() is called by no other file" <<<'int once(int n) { return n; }'

echo "1..$number"
