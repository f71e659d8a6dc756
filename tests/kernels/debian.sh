# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sourced: uses Debian's packages without installing any. apt keeps lists and
# packages in build/kernels/apt/NAME; nothing on the machine changes.
#
#	debian_open NAME ARCH INSTALLED SUITE...   what the other functions work on; INSTALLED: what counts as installed (a dpkg status file)
#	debian_apt apt-get|apt-cache ARGUMENT...
#	debian_unpack FOLDER PACKAGE...            with all their dependencies that are not installed
#	debian_download FOLDER PACKAGE             that one package, as the only .deb in FOLDER
#
# Each fails with one sentence on stderr: there is no apt, no network, no such package.

debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror of `debian` or `debian-security` that the machine uses, or everybody's.
debian_mirror() { # debian_mirror ARCHIVE
	local uri
	# shellcheck disable=SC2016 # apt's variable
	uri=$(apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI)' 2>/dev/null | grep -m1 "/$1/\$")
	uri=${uri:-http://deb.debian.org/$1/}
	echo "${uri%/}"
}

debian_open() { # debian_open NAME ARCH INSTALLED SUITE...
	local folder=build/kernels/apt/$1 suite
	debian_options=(-q -o APT::Architecture="$2" -o APT::Architectures="$2" -o Dir::State::status="$3" -o Dir::Etc::sourcelist="$PWD/$folder/sources.list"
		-o Dir::Etc::sourceparts="$PWD/$folder/none" -o Dir::Etc::preferencesparts="$PWD/$folder/none" -o Dir::State::lists="$PWD/$folder/lists"
		-o Dir::Cache="$PWD/$folder/cache" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root -o Debug::NoLocking=1)
	command -v apt-get >/dev/null || { echo "this machine has no apt" >&2 && return 1; }
	[ -r $debian_keys ] || { echo "the keys of Debian's archive are not here (package debian-archive-keyring)" >&2 && return 1; }
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/none"
	[ -e "$folder/installed" ] || : >"$folder/installed"
	for suite in "${@:4}"; do
		case $suite in
		*-security) echo "deb [signed-by=$debian_keys] $(debian_mirror debian-security) $suite main" ;;
		*) echo "deb [signed-by=$debian_keys] $(debian_mirror debian) $suite main" ;;
		esac
	done >"$folder/sources.list"
	[ -n "$(find "$folder/updated" -newer "$folder/sources.list" -mmin -1440 2>/dev/null)" ] || debian_update "$folder"
}

debian_update() {
	if ! debian_apt apt-get -o APT::Update::Error-Mode=any update >"$1/log" 2>&1; then
		echo "apt cannot read the lists of packages: $(grep -m1 '^[WE]:' "$1/log")" >&2
		return 1
	fi
	touch -d '1 minute' "$1/updated"
}

debian_apt() {
	"$1" "${debian_options[@]}" "${@:2}" </dev/null
}

debian_unpack() { # debian_unpack FOLDER PACKAGE...
	local folder=$1 cache name log
	cache=$(debian_apt apt-config dump Dir::Cache 2>/dev/null | sed -n 's/^Dir::Cache "\(.*\)";/\1/p')
	log=$cache/log
	shift
	rm -f "$cache"/archives/*.deb
	if ! debian_apt apt-get -y --no-install-recommends --download-only install "$@" >"$log" 2>&1; then
		echo "apt cannot download $1: $(grep -m1 '^E:' "$log")" >&2
		return 1
	fi
	mkdir -p "$folder"
	for name in "$cache"/archives/*.deb; do
		case $(basename "$name") in qemu-user_*) continue ;; esac # is only to be upgraded along with the rest
		dpkg-deb -x "$name" "$folder" || return
	done
	rm -f "$cache"/archives/*.deb
}

debian_download() { # debian_download FOLDER PACKAGE
	local folder=$1
	mkdir -p "$folder" && rm -f "$folder"/*.deb
	if ! (cd "$folder" && debian_apt apt-get download "$2" >log 2>&1); then
		echo "apt cannot download $2: $(grep -m1 '^E:' "$folder/log")" >&2
		return 1
	fi
}
