#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's PHP 8.2 as it is, by --preset php: as many requests and compiled files as there were, of a program and of a web server.
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
# shellcheck source=tests/e2e/recording.sh
. tests/e2e/recording.sh || exit
need_bpf
need_program php8.2 php8.2-cli

php=(php8.2 -n)
rounds=11
server=
trap 'kill $server 2>/dev/null; wait' EXIT

program() { # program NAME [VARIABLE=VALUE]: its sum is 0 + 1 + … + 10
	local name=$1
	shift
	mkdir "$tmp/$name"
	env "$@" "$recorder" -q -o "$tmp/$name.txtrace" --preset php -- "${php[@]}" $e2e/unmodified/answer.php "$tmp/$name" $rounds >"$tmp/$name.said" 2>&1 ||
		fail "ended with $?: $(cat "$tmp/$name.said")" || return
	grep -qx 'sum=55' "$tmp/$name.said" || fail "$(cat "$tmp/$name.said")" || return
	export_log "$tmp/$name.txtrace"
	same requests "$(spans_of "$name" request "(.tag | test(\"^file=.*answer.php,uri=-,method=-\$\")) and (.unfinished | not)")" 1 ||
		fail "$(jq -c 'select(.type == "span" and .label == "request") | [.tag, .unfinished]' "$tmp/$name.txtrace.jsonl")" || return
	same "unfinished spans" "$(jq -s 'map(select(.type == "span" and .unfinished)) | length' "$tmp/$name.txtrace.jsonl")" 0 && is_whole "$name"
}

# The program itself, each part once, and the one that is not there.
compiled() {
	local i
	program compiled USE_ZEND_DTRACE=1 || return
	{
		echo "file=$e2e/unmodified/answer.php"
		for ((i = 0; i < rounds; i++)); do echo "file=$tmp/compiled/part$i.php"; done
		echo "file=$tmp/compiled/nowhere.php"
	} >"$tmp/files"
	jq -rs 'map(select(.type == "span")) | (map(select(.label == "request")) | .[0].id) as $request |
		map(select(.label == "compile" and .parent == $request)) | sort_by(.begin_ns)[] | .tag' "$tmp/compiled.txtrace.jsonl" | diff "$tmp/files" -
}

silent() {
	program silent USE_ZEND_DTRACE=0 && same "compiled files" "$(spans_of silent compile)" 0
}

get() { # get PATH: the answer, or nothing
	curl -s --noproxy '*' --max-time 20 "http://127.0.0.1:$port/$1"
}

has_started() {
	grep -q 'Development Server .* started' "$tmp/server" && [ "$(get hello.php)" = hello ]
}

# On a port of its own: the first that nobody has.
start_server() {
	mkdir "$tmp/www"
	echo 'hello' >"$tmp/www/hello.php"
	printf '<?php include "part.php"; echo part($_GET["n"]);' >"$tmp/www/index.php"
	printf '<?php function part($n) { return 2 * $n; }' >"$tmp/www/part.php"
	printf '<?php throw new Exception("as it should");' >"$tmp/www/throws.php"
	for ((port = 18200; port < 18230; port++)); do
		env USE_ZEND_DTRACE=1 "${php[@]}" -S "127.0.0.1:$port" -t "$tmp/www" >"$tmp/server" 2>&1 &
		server=$!
		wait_for 10 eval 'has_started || ! runs $server'
		runs $server && return
	done
	fail "no server: $(cat "$tmp/server")"
}

requests() {
	local i
	start_server || return
	begin_recording server --preset php -p $server || return
	for ((i = 0; i < rounds; i++)); do
		same "the answer" "$(get "index.php?n=$i")" $((2 * i)) || return
	done
	get throws.php >"$tmp/thrown"
	end_recording server || return
	{
		for ((i = 0; i < rounds; i++)); do echo "file=$tmp/www/index.php,uri=/index.php?n=$i,method=GET"; done
		echo "file=$tmp/www/throws.php,uri=/throws.php,method=GET"
	} >"$tmp/requests"
	jq -rs 'map(select(.type == "span" and .label == "request" and (.unfinished | not))) | sort_by(.begin_ns)[] | .tag' "$tmp/server.txtrace.jsonl" |
		diff "$tmp/requests" - || return
	same "compiled files" "$(spans_of server compile)" $((2 * rounds + 1)) &&
		same "those that are included" "$(spans_of server compile '.tag == "file=part.php"')" $rounds && is_whole server
}

check "a program: its request, and each file that it compiles" compiled
check "without USE_ZEND_DTRACE=1 there are requests alone" silent
check "the web server: each request, with its method and address" requests
finish
