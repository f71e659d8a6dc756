# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A receiver of OTLP for a test, which sources this behind cli.sh or e2e.sh: answers starts it, $url is where it is, $tmp/receiver has what came
# (otlp_receiver.py). Variables that would lead elsewhere are unset. The test calls stop_receiver at its end.
receiver_py=$PWD/tests/cli/otlp_receiver.py
for variable in $(compgen -e | grep -E "^OTEL_(EXPORTER|SERVICE|RESOURCE)"); do
	unset "$variable"
done
receiver=
: "${tmp:?}"

stop_receiver() {
	[ -z "$receiver" ] || kill "$receiver" 2>/dev/null
	wait "$receiver" 2>/dev/null
	receiver=
}

answers() { # answers ANSWER...: a receiver that answers so, at $url
	stop_receiver
	rm -rf "$tmp/receiver"
	mkdir "$tmp/receiver"
	python3 "$receiver_py" "$tmp/receiver" "$@" 2>"$tmp/receiver.said" &
	receiver=$!
	until [ -s "$tmp/receiver/port" ]; do
		kill -0 "$receiver" 2>/dev/null || fail "no receiver: $(cat "$tmp/receiver.said")" || return
		sleep 0.05
	done
	# shellcheck disable=SC2034 # it is for the test
	url=http://127.0.0.1:$(cat "$tmp/receiver/port")
	: >"$tmp/receiver/requests"
	: >"$tmp/receiver/taken"
}
