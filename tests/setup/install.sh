#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/install.sh [--look] build|check|bench|trials|demo|fuzz|fresh
#
# Installs what the given purpose needs and this machine lacks, by
# tests/setup/tools.table, with apt. Prints what it will install and asks no
# question (sudo may ask for a password on a terminal). With --look it only prints
# what is missing. Does nothing, quickly, if nothing is missing. Exit status 0:
# everything needed is installed.
set -u

table=${TOOLS_TABLE:-$(dirname "$0")/tools.table} # another one, in tests
machine=$(uname -m)
triplet=$machine-linux-gnu

die() {
	echo "set-up: $*" >&2
	exit 1
}

# ---- what is missing ----

# is_command NAME, is_library NAME, is_header PATH, is_file GLOB
is_command() {
	command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ]
}

is_library() {
	for folder in $(echo "${PKG_CONFIG_PATH:-}" | tr : ' ') "/usr/local/lib/$triplet/pkgconfig" /usr/local/lib/pkgconfig /usr/local/share/pkgconfig \
		"/usr/lib/$triplet/pkgconfig" /usr/lib64/pkgconfig /usr/lib/pkgconfig /usr/share/pkgconfig; do
		[ -e "$folder/$1.pc" ] && return
	done
	return 1
}

is_header() {
	[ -e "/usr/include/$1" ] || [ -e "/usr/include/$triplet/$1" ] || [ -e "/usr/local/include/$1" ]
}

is_file() {
	for path in $1; do # the pattern is meant to be expanded
		[ -e "$path" ] && return
	done
	return 1
}

# The rows of the table for $purpose whose tool is not here, as "thing package required|useful". The set-up for anything includes that for the build,
# except for a fresh root, which nothing is built outside of.
find_missing() {
	while read -r how what package purposes; do
		case $how in '' | '#'*) continue ;; esac
		need=
		for word in $purposes; do
			case $word in
			build) [ "$purpose" = fresh ] || need=required ;;
			"$purpose") need=required ;;
			"$purpose?") need=useful ;;
			esac
		done
		[ -n "$need" ] || continue
		case $what in
		*%t*) what=${what%%%t*}$triplet${what#*%t} ;;
		*%m*) what=${what%%%m*}$machine${what#*%m} ;;
		esac
		"is_$how" "$what" || echo "${what##*/} $package $need"
	done <"$table"
}

column() { # column N [useful|required]
	echo "$missing" | awk -v n="$1" -v need="${2:-}" 'NF && (need == "" || $3 == need) && !seen[$n]++ { printf "%s%s", sep, $n; sep = " " }'
}

# ---- install ----

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

# --no-remove: no package of the user's goes away for ours.
apt_install() {
	# shellcheck disable=SC2086 # a list of names
	apt install --no-install-recommends --no-remove $1
}

# The lists of a fresh machine are empty or old: apt knows no such package, or a version that its mirror no longer has.
is_known_to_apt() {
	# shellcheck disable=SC2086
	apt-get -q -s install --no-install-recommends $1 >/dev/null 2>&1
}

update_lists() {
	is_updated=1
	echo "set-up: reading the lists of packages"
	apt -o APT::Update::Error-Mode=any update || echo "set-up: apt-get update failed; trying with the lists that are here" >&2
}

is_updated=
install_packages() {
	is_known_to_apt "$1" || [ -n "$is_updated" ] || update_lists
	apt_install "$1" && return
	[ -z "$is_updated" ] || return
	update_lists
	apt_install "$1"
}

# Why nothing can be installed, and what to do about it; nothing if it can.
find_hindrance() {
	if ! command -v apt-get >/dev/null; then
		echo "this machine has no apt-get; install by hand: $(column 1) (Debian calls the packages: $(column 2))"
	elif [ "$(id -u)" = 0 ]; then
		[ -w "/var/lib/dpkg" ] || echo "root may not do that here (a container without privileges); run outside of it: apt-get install $(column 2)"
	elif ! command -v sudo >/dev/null; then
		echo "you are not root and there is no sudo; run as root: apt-get install $(column 2)"
	elif [ ! -t 0 ] && ! sudo -n true 2>/dev/null; then
		echo "sudo wants a password and there is no terminal; run: sudo apt-get install $(column 2)"
	fi
}

# ---- main ----

look_only=
[ "${1:-}" = --look ] && look_only=1 && shift
purpose=${1:-}
case $purpose in
build | check | bench | trials | demo | fuzz | fresh) ;;
*) die "usage: tests/setup/install.sh [--look] build|check|bench|trials|demo|fuzz|fresh" ;;
esac

missing=$(find_missing)
[ -n "$missing" ] || exit 0

if [ -n "$look_only" ]; then
	[ -z "$(column 1 required)" ] || die "missing: $(column 1 required); 'make setup' installs it (Debian packages: $(column 2 required))"
	exit 0
fi

echo "set-up: missing here: $(column 1)"
hindrance=$(find_hindrance)
if [ -n "$hindrance" ]; then
	[ -z "$(column 1 required)" ] || die "cannot install anything: $hindrance"
	echo "set-up: nothing can be installed: $hindrance; some tests will be skipped for it" >&2
	exit 0
fi
echo "set-up: installing with apt: $(column 2)"
# Not all at once: what is needed, then what is only useful, each by itself.
if ! install_packages "$(column 2)"; then
	[ -z "$(column 2 required)" ] || install_packages "$(column 2 required)" ||
		die "apt could not install: $(column 2 required); its messages are above (is there a network, does the mirror answer?)"
	for package in $(column 2 useful); do apt_install "$package"; done
fi

missing=$(find_missing)
[ -z "$(column 1 useful)" ] || echo "set-up: not installed: $(column 2 useful); some tests will be skipped for it" >&2
[ -z "$(column 1 required)" ] || die "still missing after apt-get install: $(column 1 required)"
echo "set-up: done"
