#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/fetch.sh NAME
#
# Fetches everything needed to boot the kernel NAME of kernels.table into
# build/kernels: NAME/image and NAME/release (with its .deb), qemu/ unless this
# machine has a suitable QEMU, and busybox/; for another architecture also
# root-ARCH/, with which its programs are built and run. Existing files are kept; to
# get newer kernels, remove the folder. Fails with one sentence, also if there is no
# compiler for such programs.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/kernels/debian.sh
. tests/kernels/debian.sh || exit
kernels=build/kernels
own_arch=$(dpkg --print-architecture 2>/dev/null || uname -m)

# The package that holds the image: before 6.19 the one that the name of the newest depends on, since then one that this depends on.
image_package() { # image_package META VERSION
	local version image binary
	version=$(debian_apt apt-cache madison "$1" | awk -F'|' -v prefix="$2" '{ gsub(/ /, ""); if (prefix == "*" || index($2, prefix) == 1) print $2 }' |
		sort -V | tail -n 1)
	[ -n "$version" ] || { echo "Debian has no $1 $2" >&2 && return 1; }
	image=$(debian_apt apt-cache show "$1=$version" | sed -n 's/^Depends: .*\(linux-image-[0-9][^ ,]*\).*/\1/p' | head -n 1)
	binary=$(debian_apt apt-cache show "$image" | sed -n 's/^Depends: .*\(linux-binary-[0-9][^ ,]*\).*/\1/p' | head -n 1)
	echo "${binary:-$image}"
}

fetch_image() { # fetch_image NAME ARCH VERSION SUITE...
	local folder=$kernels/$1 package image
	debian_open "$1" "$2" "$PWD/$kernels/apt/$1/installed" "${@:4}" && package=$(image_package "linux-image-cloud-$2" "$3") || return
	debian_download "$folder" "$package" || return
	dpkg-deb --fsys-tarfile "$folder"/*.deb | tar -x -C "$folder" --wildcards './boot/vmlinuz*' './usr/lib/modules/*/vmlinuz' 2>/dev/null
	image=$(find "$folder/boot" "$folder/usr" -name 'vmlinuz*' -type f 2>/dev/null | head -n 1)
	[ -n "$image" ] || { echo "there is no kernel in $package" >&2 && return 1; }
	echo "$package" | sed 's/^linux-[a-z-]*-\([0-9]\)/\1/; s/-unsigned$//' >"$folder/release"
	mv "$image" "$folder/image" && rm -rf "${folder:?}/boot" "${folder:?}/usr"
}

# Bookworm's QEMU 7.2 corrupts guests with kernels from 6.12 on; its backports have 10.
has_good_qemu() { # has_good_qemu COMMAND
	local version
	command -v "$1" >/dev/null || return
	version=$("$1" --version 2>/dev/null | sed -n 's/^QEMU.* version \([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 9 ]
}

fetch_qemu() {
	local suite
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
	debian_open qemu "$own_arch" /var/lib/dpkg/status "$suite" "$suite-backports" &&
		debian_unpack $kernels/qemu.new -t "$suite-backports" qemu-system-x86 qemu-system-arm && mv $kernels/qemu.new $kernels/qemu
}

fetch_busybox() {
	local suite
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
	debian_open busybox "$own_arch" /var/lib/dpkg/status "$suite" && debian_download $kernels/busybox.new busybox-static &&
		dpkg-deb -x $kernels/busybox.new/*.deb $kernels/busybox.new && mv $kernels/busybox.new $kernels/busybox
}

# The packages that a recorder is linked with, and the tools that the tests call.
fetch_root() { # fetch_root ARCH
	local suite
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
	debian_open "root-$1" "$1" "$PWD/$kernels/apt/root-$1/installed" "$suite" &&
		debian_unpack "$kernels/root-$1.new" busybox-static bash coreutils grep sed util-linux python3-minimal libpython3-stdlib jq \
			libbpf-dev libelf-dev libdw-dev libmicrohttpd-dev libseccomp-dev zlib1g-dev libzstd-dev liblz4-dev libprotobuf-c-dev libcbor-dev libsqlite3-dev libcurl4-openssl-dev libncurses-dev &&
		lead_links_inside "$kernels/root-$1.new" && mv "$kernels/root-$1.new" "$kernels/root-$1"
}

# A link of that root that begins with a slash leads to a file of this machine.
lead_links_inside() { # lead_links_inside ROOT
	local link target
	find "$1" -type l -lname '/*' | while read -r link; do
		target=$(readlink "$link")
		ln -sfn "$(realpath -m --relative-to "$(dirname "$link")" "$1$target")" "$link" || return
	done
}

name=${1:?which kernel}
read -r _ arch version suites < <(grep "^$name " tests/kernels/kernels.table) || { echo "there is no kernel '$name' in kernels.table" >&2 && exit 1; }
case $arch in
amd64) qemu=qemu-system-x86_64 compiler=x86_64-linux-gnu-gcc package=gcc-x86-64-linux-gnu ;;
arm64) qemu=qemu-system-aarch64 compiler=aarch64-linux-gnu-gcc package=gcc-aarch64-linux-gnu ;;
esac
if [ "$arch" != "$own_arch" ] && ! command -v "$compiler" >/dev/null; then
	echo "there is no compiler for $arch (package $package)" >&2
	exit 1
fi

rm -rf $kernels/*.new
# shellcheck disable=SC2086 # suites is a list
[ -e "$kernels/$name/image" ] || fetch_image "$name" "$arch" "$version" $suites || exit 1
has_good_qemu $qemu || [ -e $kernels/qemu/usr/bin/$qemu ] || fetch_qemu || exit 1
if [ "$arch" != "$own_arch" ]; then
	[ -d "$kernels/root-$arch" ] || fetch_root "$arch" || exit 1
else
	[ -d $kernels/busybox ] || fetch_busybox || exit 1
fi
