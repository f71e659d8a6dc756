# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Real servers of ClickHouse, for the tests that source this after e2e.sh.
# shellcheck disable=SC2154 # tmp is that of e2e.sh

# What is missing for that, or nothing.
clickhouse_lacks() {
	[ -x /usr/sbin/clickhouse-server ] || command -v clickhouse-server >/dev/null || echo "there is no clickhouse-server: Debian's package of this name is not installed"
}

# clickhouse_configure NAME HTTP_PORT TCP_PORT [SHARD_PORT...]: a server in the folder $tmp/NAME, with two users, and the cluster "both" of the shards. With
# https_port it has that, too, with the certificate $tmp/certificate.pem and its $tmp/key.pem.
clickhouse_configure() {
	local folder=$tmp/$1 http=$2 tcp=$3 port
	shift 3
	mkdir -p "$folder/data" "$folder/tmp" "$folder/formats" || return
	{
		cat <<-END
			<yandex>
			<logger><level>warning</level><log>$folder/log</log><errorlog>$folder/errors</errorlog></logger>
			<http_port>$http</http_port>${https_port:+<https_port>$https_port</https_port>}<tcp_port>$tcp</tcp_port>
			<openSSL><server><certificateFile>$tmp/certificate.pem</certificateFile><privateKeyFile>$tmp/key.pem</privateKeyFile>
			<verificationMode>none</verificationMode></server></openSSL>
			<listen_host>127.0.0.1</listen_host>
			<path>$folder/data/</path><tmp_path>$folder/tmp/</tmp_path><format_schema_path>$folder/formats/</format_schema_path>
			<mark_cache_size>100000000</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
			<users_config>$folder/users.xml</users_config>
			<remote_servers><both>
		END
		for port; do
			echo "<shard><replica><host>127.0.0.1</host><port>$port</port></replica></shard>"
		done
		echo "</both></remote_servers></yandex>"
	} >"$folder/config.xml"
	cat >"$folder/users.xml" <<-END
		<yandex>
		<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
		<quotas><default></default></quotas>
		<users>
		<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
		<sender><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></sender>
		</users>
		</yandex>
	END
}

clickhouse_answers() { # clickhouse_answers PORT PID
	curl -s -o "$tmp/ping" "http://127.0.0.1:$1/ping" && grep -q Ok "$tmp/ping" || has_ended "$2"
}

# Of a server that is killed and comes back: none that the kernel gives to connections meanwhile, as those of free_port are.
lasting_port() {
	python3 - <<-'END'
		import random, socket
		with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
		    first = int(file.read().split()[0])
		while True:
		    port = random.randrange(max(1024, first - 12000), first)
		    with socket.socket() as tried:
		        try:
		            tried.bind(("127.0.0.1", port))
		        except OSError:
		            continue
		    print(port)
		    break
	END
}

# clickhouse_start NAME HTTP_PORT: its pid goes to $clickhouse_pid. Another program may have its port for a moment.
clickhouse_start() {
	local attempt
	for attempt in 1 2 3 4 5; do
		clickhouse-server --config-file="$tmp/$1/config.xml" >>"$tmp/$1/output" 2>&1 &
		clickhouse_pid=$!
		wait_for 60 clickhouse_answers "$2" $clickhouse_pid
		runs $clickhouse_pid && return
		sleep $attempt
	done
	fail "clickhouse-server does not start: $(tail -3 "$tmp/$1/output" "$tmp/$1/errors")"
}

clickhouse_ask() { # clickhouse_ask HTTP_PORT QUERY
	curl -sS --data-binary "$2" "http://127.0.0.1:$1/?database=txtrace"
}
