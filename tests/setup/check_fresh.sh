#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/setup/check_fresh.sh
#
# `make check-fresh` runs this: README's two commands, on a Debian that has only
# what README asks for. It makes a root with mmdebstrap, clones HEAD into it, and
# runs `make demo` and `make check` there as root, in a mount namespace of its own:
# /proc, /sys and /dev are as on a fresh machine, without tracefs, debugfs and
# bpffs. (It uses no PID namespace, because nothing can be traced in one.) The
# network is the machine's; so are the mirror, the configuration of apt and npm,
# and the certificates.
#
#	SUITE=bookworm       the Debian
#	VARIANT=minbase      mmdebstrap's: what is installed beforehand
#	FRESH_CHECK=check    instead of `make check`: another target (check-fast), or tests and folders ("tests/e2e tests/cli")
#	FRESH_DEMO=          skips `make demo`
#	FRESH_FOLDER=/var/tmp    where the root is made: 6 GB on a disk
#	KEEP=1               keeps the root, and prints where it is
#
# Prints the output of the commands, then how long each took and the total. The
# outputs stay in build/fresh. Exit status 0: all commands succeeded.
set -u
cd "$(dirname "$0")/../.." || exit 1

suite=${SUITE:-bookworm}
check=${FRESH_CHECK:-check}
outputs=$PWD/build/fresh
root=
inside=

die() {
	echo "check-fresh: $*" >&2
	exit 1
}

# ---- the end: the mounts go with the last process of their namespace ----

# Whatever runs in that root, in whichever namespace, process group or cgroup.
is_inhabited() {
	local process found=1
	for process in /proc/[0-9]*; do
		[ "$process/root" -ef "$root/root" ] && kill -KILL "${process#/proc/}" 2>/dev/null && found=0
	done
	return "$found"
}

clean_up() {
	trap '' INT TERM HUP
	[ -z "$inside" ] || { kill -TERM "$inside" && wait "$inside"; } 2>/dev/null
	while [ -d "$root/root" ] && is_inhabited; do sleep 0.1; done
	[ -n "$root" ] || return
	if [ -n "${KEEP:-}" ]; then
		echo "check-fresh: the root is left in $root"
	else
		rm -rf --one-file-system "$root"
	fi
}

# In the background, so that a signal is handled while it runs.
run() { # run COMMAND...
	"$@" &
	inside=$!
	wait $inside
	local status=$?
	inside=
	return $status
}

# ---- the root ----

# What apt was told about its way to the mirror.
apt_options() {
	apt-config dump | grep -E '^Acquire::(http|https|ForceIPv|Retries|Check-)[^ ]* "[^"]+"'
	echo 'Acquire::Retries "3";'
}

sources() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r $key ] || die "the keys of Debian's archive are not here: install the package debian-archive-keyring"
	echo "deb [signed-by=$key] $(debian_mirror debian) $suite main"
	case $suite in
	sid | unstable | testing) ;;
	*)
		echo "deb [signed-by=$key] $(debian_mirror debian) $suite-updates main"
		echo "deb [signed-by=$key] $(debian_mirror debian-security) $suite-security main"
		;;
	esac
}

# In namespaces of its own, so that no mount and no process is left when it is stopped. The folder is root's alone, since it holds what npm is told.
make_root() {
	local folder
	folder=$(mktemp -d "${FRESH_FOLDER:-/var/tmp}/txtrace-fresh.XXXXXX") || exit 1
	root=$folder
	apt_options >"$folder/apt.conf"
	sources >"$folder/sources.list" || exit 1
	run unshare --mount --pid --fork --kill-child=KILL --propagation private mmdebstrap --quiet --variant="${VARIANT:-minbase}" --include=git,make,ca-certificates --aptopt="$folder/apt.conf" \
		"$suite" "$folder/root" "$folder/sources.list" || die "mmdebstrap could not make a root of $suite"
}

# As the machine reaches the network.
bring_network() {
	local file
	for file in resolv.conf hosts; do
		[ ! -e /etc/$file ] || cp -L --remove-destination /etc/$file "$root/root/etc/$file" || return
	done
	mkdir -p "$root/root/usr/local/share/ca-certificates" || return
	for file in /usr/local/share/ca-certificates/*.crt; do
		[ ! -e "$file" ] || cp -L "$file" "$root/root/usr/local/share/ca-certificates/" || return
	done
	[ ! -e ~/.npmrc ] || install -m 600 ~/.npmrc "$root/root/root/.npmrc" || return
	run chroot "$root/root" update-ca-certificates >"$root/certificates" 2>&1 || die "update-ca-certificates: $(tail -n 1 "$root/certificates")"
}

clone_head() {
	git -c safe.directory="$PWD" clone --quiet --no-hardlinks --no-local "file://$PWD" "$root/root/srv/txtrace" || die "the tree could not be cloned"
	[ -z "$(git status --porcelain --untracked-files=no)" ] || echo "check-fresh: this is about HEAD; what is not committed is not in it" >&2
}

# ---- what runs inside ----

# Of the environment: the way to the network, and what the runner is told.
passed_on() {
	local name value
	while IFS='=' read -r -d '' name value; do
		case $name in
		*_proxy | *_PROXY | npm_config_* | NPM_CONFIG_* | JOBS | TXTRACE_*) echo "$name=$value" ;;
		NODE_EXTRA_CA_CERTS | SSL_CERT_FILE | SSL_CERT_DIR) [ ! -e "$root/root$value" ] || echo "$name=$value" ;;
		esac
	done < <(env -0)
}

# The root is a mount of its own, as on a machine, and nothing else can be seen from there.
enter='
set -e
cd "$1"
mount --bind . .
cd "$1"
mount -t proc -o nosuid,nodev,noexec proc proc
mount -t sysfs -o nosuid,nodev,noexec sysfs sys
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup 2>/dev/null || true
mount -t devtmpfs -o nosuid devtmpfs dev
mkdir -p dev/pts dev/shm
mount -t devpts -o newinstance,nosuid,noexec,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
mount -t tmpfs -o nosuid,nodev tmpfs dev/shm
mount -t tmpfs -o nosuid,nodev,mode=0755 tmpfs run
mkdir -p run/lock
pivot_root . mnt
cd /
umount -l /mnt
shift
exec "$@"
'

within() { # within COMMAND: of a shell, in the clone
	local environment
	mapfile -t environment < <(passed_on)
	run unshare --mount --propagation private sh -c "$enter" sh "$root/root" \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "${environment[@]}" \
		bash -c 'trap "" HUP; cd /srv/txtrace && eval "$1"' bash "$1" </dev/null
}

# ---- main ----

failed=0
stage() { # stage NAME COMMAND: prints and keeps what it prints
	local begin=$SECONDS status out tee
	echo "---- $1"
	exec {out}> >(tee "$outputs/$1.out")
	tee=$!
	within "$2" >&"$out" 2>&1
	status=$?
	exec {out}>&-
	wait $tee
	[ $status = 0 ] || failed=1
	printf '%6d s  %-8s %s%s\n' $((SECONDS - begin)) "$1" "$(grep -E '^[0-9]+ passed, ' "$outputs/$1.out" | tail -n 1)" \
		"$([ $status = 0 ] || echo "  exit status $status")" >>"$outputs/durations"
}

check_command() {
	case $check in
	tests/* | build/*) echo "tests/setup/install.sh check && make -j${JOBS:-\$(nproc)} all programs units && tests/run $check" ;;
	*) echo "make $check" ;;
	esac
}

# A function, so that the script is read as a whole before it runs.
main() {
	[ "$(id -u)" = 0 ] || die "it makes a root and traces in it: run 'make check-fresh' as root"
	tests/setup/install.sh fresh || exit 1
	# shellcheck source=tests/kernels/debian.sh
	. tests/kernels/debian.sh || exit
	rm -rf "$outputs"
	mkdir -p "$outputs" || exit 1
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP

	echo "---- a fresh root of $suite"
	make_root
	bring_network || die "the root could not be connected"
	clone_head
	printf '%6d s  %s\n' $SECONDS "a root of $suite" >"$outputs/durations"
	[ "${FRESH_DEMO-1}" = "" ] || stage demo "make demo"
	stage check "$(check_command)"

	echo "---- durations; the outputs are in build/fresh"
	cat "$outputs/durations"
}

main; exit $failed
