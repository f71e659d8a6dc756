#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The process that serves metrics reads what anybody may send: it may do next to
# nothing, the recorder has none of its libraries, and recording goes on when it
# is stopped, killed or busy with clients that never end.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/outside.sh
. tests/e2e/outside.sh || exit
need_bpf

loop=
tracer=
server=
clients=
log=$tmp/served.txtrace
trap 'kill -KILL $server $loop $tracer $clients 2>/dev/null' EXIT

page() {
	curl -sf --max-time 600 "http://127.0.0.1:$port/metrics" >"$tmp/page"
}

start() { # until it serves metrics
	port=$(free_port)
	rm -f "$tmp"/served* "$tmp/loop.out" # what the last loop wrote would end the wait below
	"$programs/probe_loop" --mode tagged --steps 500 --rate 2000 --window-ms 100 >"$tmp/loop.out" &
	loop=$!
	wait_for 20 test -s "$tmp/loop.out"
	"$recorder" -o "$log" --metrics "127.0.0.1:$port" --metrics-file "$tmp/served.prom" -p $loop 2>"$tmp/err" &
	tracer=$!
	wait_for 60 page || fail "it serves no metrics: $(cat "$tmp/err")" || return
	server=$(child_of_tracer txtrace-metrics) || fail "no process serves metrics"
}

stop() {
	log_is_whole || return
	kill "$loop"
	wait "$loop"
	loop='' server=''
}

has_no_library() {
	local name
	grep -q libseccomp "/proc/$tracer/maps" || fail "these are no maps" || return
	for name in microhttpd gnutls; do
		! grep "$name" "/proc/$tracer/maps" || return
	done
	grep -q libmicrohttpd "/proc/$server/maps" || fail "the test tests nothing: the process has no library, either"
}

server_may_do_little() {
	may_do_little "$server" 20
}

others_cannot_stop_it() {
	! setpriv --reuid 65534 --regid 65534 --clear-groups kill -STOP "$server" 2>"$tmp/kill" || return
	grep -q 'not permitted' "$tmp/kill"
}

# Sixty that never end their request, and one that never takes its answers.
slow_clients_keep_nobody_out() {
	python3 - "$port" >"$tmp/clients" <<-'END' &
		import socket, sys, time
		address = ("127.0.0.1", int(sys.argv[1]))
		clients = [socket.create_connection(address) for _ in range(60)]
		for client in clients:
		    try:
		        client.sendall(b"GET /met")
		    except ConnectionError:  # it had to make room
		        pass
		greedy = socket.create_connection(address)
		greedy.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
		print("connected", flush=True)
		time.sleep(3600)
	END
	clients=$!
	wait_for 60 test -s "$tmp/clients" || return
	page && page && goes_on || return
	kill -KILL $clients
	wait $clients 2>/dev/null
	clients=
}

# A client waits, the recorder does not: until the process goes on.
one_that_is_stopped_holds_nothing_up() {
	local client
	kill -STOP "$server"
	page &
	client=$!
	goes_on && runs $client || return
	kill -CONT "$server"
	wait $client || fail "the client got no page" || return
	grep '^txtrace_metrics_server_failures_total 0$' "$tmp/page"
}

ends_while_it_is_stopped() {
	local stopped=$server
	kill -STOP "$server"
	stop || return
	wait_for 30 has_ended "$stopped" || fail "it is left behind"
}

one_that_is_killed_is_told_once() {
	start || return
	kill -KILL "$server"
	wait_for 30 grep -q 'metrics are not served any more' "$tmp/err" || fail "nothing is said: $(cat "$tmp/err")" || return
	goes_on || return
	! curl -s --max-time 600 "http://127.0.0.1:$port/metrics" || fail "somebody serves" || return
	stop || return
	cat "$tmp/err"
	[ "$(grep -c 'not served any more' "$tmp/err")" = 1 ] && grep '^txtrace_metrics_server_failures_total 1$' "$tmp/served.prom"
}

# Also while it is stopped.
goes_with_its_recorder() {
	start || return
	kill -STOP "$server"
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	wait_for 30 has_ended "$server" || fail "it outlives the recorder" || return
	kill "$loop"
	wait "$loop"
	loop='' tracer='' server=''
}

# The sentence says which address, and why.
a_taken_address_is_said() {
	local other port status
	rm -f "$tmp/port"
	python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(3600)' \
		>"$tmp/port" &
	other=$!
	wait_for 30 test -s "$tmp/port"
	port=$(cat "$tmp/port")
	"$recorder" -q -o "$tmp/refused.txtrace" --metrics "127.0.0.1:$port" -- true 2>"$tmp/err"
	status=$?
	kill -KILL $other
	wait $other 2>/dev/null
	cat "$tmp/err"
	[ $status = 2 ] && [ "$(cat "$tmp/err")" = "txtrace-bpf: cannot serve metrics at '127.0.0.1:$port': Address already in use" ] &&
		[ ! -e "$tmp/refused.txtrace" ]
}

check "metrics are served" start
check "the recorder has no library that speaks HTTP" has_no_library
check "the process that serves has no capability, none of the recorder's files, and a filter" server_may_do_little
check "no other user can stop it" others_cannot_stop_it
check "slow clients keep nobody out" slow_clients_keep_nobody_out
check "a process that is stopped delays no recording" one_that_is_stopped_holds_nothing_up
check "nor its end" ends_while_it_is_stopped
check "one that is killed is told once, and recording goes on" one_that_is_killed_is_told_once
check "it ends with its recorder" goes_with_its_recorder
check "an address that is taken is said" a_taken_address_is_said
finish
