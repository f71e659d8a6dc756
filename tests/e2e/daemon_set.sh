#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# runs alone: the manifest's arguments are to record every process of the machine
# The manifest for Kubernetes: it has the members and values that the API knows, and with its arguments and its capabilities, in namespaces as a pod has them and with
# a root that cannot be written, the recorder records a process of the machine. And the image has the libraries that the programs need.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf

manifest=share/txtrace/container/daemonset.yaml
dockerfile=share/txtrace/container/Dockerfile
types=${KUBERNETES_TYPES:-build/setup/kubernetes_types}/package
tracer='' target=''
trap 'kill -KILL $target $tracer 2>/dev/null; wait 2>/dev/null' EXIT

is_of_the_api() {
	python3 $e2e/daemon_set.py check $manifest "$types"
}

mistakes_are_found() {
	sed 's/hostPID/hostPid/; s/containerPort: 9464/containerPort: x/; s/- name: logs/- nam: logs/' $manifest >"$tmp/wrong.yaml"
	! python3 $e2e/daemon_set.py check "$tmp/wrong.yaml" "$types" >"$tmp/problems" 2>&1 || fail "it is taken" || return
	grep -q "unknown member 'hostPid'" "$tmp/problems" && grep -q "containerPort: is 'x', no number" "$tmp/problems" && grep -q "lacks 'name'" "$tmp/problems"
}

serves() {
	curl -sf --noproxy '*' --max-time 20 "http://127.0.0.1:$port/metrics" >"$tmp/page" && grep -q '^txtrace_span_wall_seconds_count{label="spin"' "$tmp/page"
}

# What differs from the manifest: where the log is, and the port.
records_as_in_a_pod() {
	local args=() capabilities bounding
	port=$(free_port)
	mkdir -p "$tmp/logs"
	while read -r arg; do
		args+=("$(echo "$arg" | sed "s,/var/log/txtrace,$tmp/logs,; s/:9464/:$port/")")
	done < <(python3 $e2e/daemon_set.py args $manifest)
	[ ${#args[@]} -gt 5 ] || fail "there are no arguments" || return
	capabilities=$(python3 $e2e/daemon_set.py capabilities $manifest | tr '[:upper:]' '[:lower:]' | sed 's/^/+/' | paste -sd ,)
	bounding="setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all,$capabilities"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --cgroup --ipc --uts sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro / && ! touch "$1/../probe" 2>/dev/null && shift && exec "$@"' sh "$tmp/logs" \
		$bounding "$recorder" "${args[@]}" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	wait_for 60 is_recording $tracer || fail "it does not record: $(cat "$tmp/err")" || return
	"$programs/spin" --repeat 7 --output "$tmp/spin.truth" || fail "the program ended with $?" || return
	wait_for 60 serves || fail "no metrics: $(cat "$tmp/err")" || return
	kill -TERM $tracer
	wait $tracer || fail "txtrace-bpf ended with $?: $(cat "$tmp/err")" || return
	[ "$("$reader" report --label spin --json "$tmp/logs" | jq '.labels[0].count')" = 7 ] || fail "$("$reader" report "$tmp/logs")"
}

# By its whole path: another package may have a file of that name. What is in /usr/lib may have been installed as /lib.
package_of() { # package_of FILE
	{ dpkg -S "$1" || dpkg -S "${1#/usr}"; } 2>/dev/null | sed -n 's/:.*//p' | head -n 1
}

# The package of each library that is linked; libmicrohttpd and libstdc++ are loaded when they are needed.
libraries_are_installed() {
	local library package found=0
	for library in $(ldd "$BUILD/txtrace-bpf" "$BUILD/txtrace" | awk '/=> \// { print $3 }' | sort -u); do
		package=$(package_of "$(readlink -f "$library")")
		case $package in '' | libc6 | libtinfo6 | libbz2-1.0 | liblzma5) continue ;; esac # the base system's
		grep -q -w -- "$package" $dockerfile || fail "$package, of $library, is not in the image" || return
		found=$((found + 1))
	done
	[ $found -ge 9 ] || fail "only $found libraries were looked for" || return
	grep -q -w libmicrohttpd12 $dockerfile && grep -q -w 'libstdc++6' $dockerfile
}

skip() { # skip NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

if ! python3 -c 'import yaml' 2>/dev/null; then
	skip "the manifest" "there is no python3-yaml"
else
	if [ -e "$types/apps/v1/DaemonSet.d.ts" ]; then
		check "the manifest has what Kubernetes' API knows" is_of_the_api
		check "mistakes in it are found" mistakes_are_found
	else
		skip "the manifest has what Kubernetes' API knows" "there is nothing in build/setup/kubernetes_types; tests/setup/kubernetes_types.sh fetches it"
	fi
	check "with its arguments, capabilities and namespaces the recorder records" records_as_in_a_pod
fi
if grep -q '^VERSION_CODENAME=bookworm' /etc/os-release 2>/dev/null; then
	check "the image has the libraries" libraries_are_installed
else
	skip "the image has the libraries" "the image is of Debian bookworm, and other systems have other packages"
fi
finish
