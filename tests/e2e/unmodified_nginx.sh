#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's nginx as it is, by --preset nginx, under ab: as many requests as its access log has lines, its own and those that it passes on to itself.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program nginx nginx-light
need_program ab apache2-utils

server=
folder=$tmp/www
page_requests=200
passed_requests=100
trap 'kill $server 2>/dev/null; wait' EXIT

configure() { # configure PORT
	cat >"$folder/conf" <<-END
		daemon off; worker_processes 1; pid $folder/pid; error_log $folder/error.log; user root;
		events { worker_connections 64; }
		http {
			access_log $folder/access.log;
			client_body_temp_path $folder/t1; proxy_temp_path $folder/t2; fastcgi_temp_path $folder/t3;
			uwsgi_temp_path $folder/t4; scgi_temp_path $folder/t5;
			server {
				listen 127.0.0.1:$1;
				root $folder;
				location /passed/ { proxy_pass http://127.0.0.1:$1/; }
			}
		}
	END
}

get() { # get PATH
	curl -s --noproxy '*' --max-time 20 "http://127.0.0.1:$port/$1"
}

answers() {
	[ "$(get page.html)" = page ] || ! runs "$server"
}

# On a port of its own: the first that nobody has.
start_server() {
	mkdir "$folder"
	echo page >"$folder/page.html"
	for ((port = 20000 + $$ % 10000; port < 32000; port += 7)); do
		configure $port
		nginx -c "$folder/conf" -p "$folder" >"$tmp/server" 2>&1 &
		server=$!
		wait_for 60 answers
		runs $server && return
	done
	fail "$(cat "$tmp/server")"
}

load() { # load NUMBER PATH
	ab -q -n "$1" -c 4 "http://127.0.0.1:$port/$2" >"$tmp/ab" 2>&1 && grep -Eq "^Complete requests: +$1\$" "$tmp/ab" &&
		grep -Eq '^Failed requests: +0$' "$tmp/ab" || fail "$(cat "$tmp/ab")"
}

lines() {
	wc -l <"$folder/access.log"
}

served() {
	local before wanted=$((page_requests + 2 * passed_requests))
	before=$(lines)
	begin_recording served -p "$server" -f --preset nginx || return
	load $page_requests page.html && load $passed_requests passed/page.html || return
	same "lines of the access log" $(($(lines) - before)) $wanted || return
	end_recording served || return
	same requests "$(spans_of served request)" $wanted &&
		same "requests through the phases" "$(spans_of served phases)" $wanted &&
		same "phases of a request" "$(jq -s 'map(select(.type == "span")) | (map(select(.label == "request") | {key: .id, value: true}) | from_entries) as $is |
			map(select(.label == "phases" and $is[.parent])) | length' "$tmp/served.txtrace.jsonl")" $wanted &&
		same "connections to the upstream" "$(spans_of served connect)" $passed_requests &&
		same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/served.txtrace.jsonl")" 0 &&
		is_whole served
}

is_offered() {
	"$recorder" --list "$(command -v nginx)" >"$tmp/list" && grep -q -- ': --preset nginx$' "$tmp/list" || fail "$(cat "$tmp/list")"
}

check "a server of our own" start_server
check "--list offers the preset" is_offered
check "as many requests as the server logs" served
finish
