# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A Prometheus that scrapes a recorder each second.
# shellcheck disable=SC2154 # tmp is that of e2e.sh

# start_prometheus NAME PORT OPTION...: of the recorder's metrics at PORT; sets `prometheus` to its pid and `address` to where it answers
start_prometheus() {
	address=127.0.0.1:$(free_port)
	mkdir "$tmp/$1"
	cat >"$tmp/prometheus.yml" <<-END
		global: { scrape_interval: 1s }
		scrape_configs: [ { job_name: txtrace, static_configs: [ { targets: [ "127.0.0.1:$2" ] } ] } ]
	END
	prometheus "${@:3}" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/$1" --web.listen-address="$address" >"$tmp/prometheus.log" 2>&1 &
	prometheus=$!
}

end_prometheus() {
	kill "$prometheus"
	wait "$prometheus"
	prometheus=
}
