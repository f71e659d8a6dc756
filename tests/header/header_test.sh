# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of include/txtrace.h share. A case is a command: `check NAME COMMAND...`; what it prints is shown if it fails.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
here=tests/header
scratch=${TEST_TMPDIR:-}
if [ -z "$scratch" ]; then
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/txtrace-header.XXXXXX") || exit 1
	trap 'rm -rf "$scratch"' EXIT
fi

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Wno-unused-command-line-argument"
export LC_ALL=C
case_cnt=0 failed_cnt=0

check() { # check NAME COMMAND...
	local name=$1 output
	shift
	case_cnt=$((case_cnt + 1))
	if output=$("$@" 2>&1); then
		echo "ok $case_cnt - $name"
	else
		failed_cnt=$((failed_cnt + 1))
		echo "not ok $case_cnt - $name"
		echo "$output" | sed 's/^/# /' | head -n 60
	fi
}

skip() { # skip NAME REASON
	case_cnt=$((case_cnt + 1))
	echo "ok $case_cnt - $1 # SKIP $2"
}

finish() {
	echo "1..$case_cnt"
	exit $((failed_cnt != 0))
}

has() {
	command -v "$1" >/dev/null
}

# same EXPECTED SEEN: whether two texts are equal; the difference is printed.
same() {
	[ "$1" = "$2" ] || { diff <(echo "$1") <(echo "$2") | sed 's/^</expected/; s/^>/seen    /'; return 1; }
}

# The flags with which a compiler does link-time optimisation here, or nothing: clang needs lld or LLVM's plugin for the other linkers.
lto_flags() {
	case $1 in
	*clang*)
		if has ld.lld; then
			echo "-flto -fuse-ld=lld"
		elif compgen -G '/usr/lib/llvm-*/lib/LLVMgold.so' >/dev/null; then
			echo "-flto"
		fi
		;;
	*) echo "-flto" ;;
	esac
}

# Whether a compiler can link for something, as -static or -fsanitize=address.
can_link() { # can_link COMPILER FLAG...
	echo 'int main(void) { return 0; }' | "$1" "${@:2}" -x c - -o "$scratch/can_link" 2>/dev/null
}

# compile_stories COMPILER FLAG...: the stories as C or C++, by what the compiler's name says. One file is C in both: so both meet in one object.
compile_stories() {
	local compiler=$1 file files="macro_stories.c macro_other.c" language="-x c -std=c11"
	shift
	case $compiler in *++) files="$files macro_stories_cpp.cpp" language="-x c++ -std=c++17" ;; esac
	# shellcheck disable=SC2086 # the warnings and the languages are lists
	{
		"${compiler_of_c[$compiler]:-$compiler}" -std=c11 $warnings -Iinclude "$@" -c $here/probe_trap.c -o "$scratch/probe_trap.o" || return
		for file in $files; do
			"$compiler" $language $warnings -Iinclude "$@" -c "$here/$file" -o "$scratch/${file%.*}.o" || return
		done
	}
}

# link_stories COMPILER OUTPUT FLAG...: what compile_stories has left.
link_stories() {
	local objects=("$scratch/probe_trap.o" "$scratch/macro_stories.o" "$scratch/macro_other.o")
	case $1 in *++) objects+=("$scratch/macro_stories_cpp.o") ;; esac
	# shellcheck disable=SC2086
	"$1" $warnings "${@:3}" "${objects[@]}" -o "$2"
}

build_stories() { # build_stories COMPILER OUTPUT FLAG...
	compile_stories "$1" "${@:3}" && link_stories "$@"
}

declare -A compiler_of_c=([g++]=gcc [clang++]=clang [aarch64-linux-gnu-g++]=aarch64-linux-gnu-gcc)
