#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --otel on a program with OpenTelemetry's C++ SDK, which is in no package of Debian 12 itself: OTEL_SDK=FOLDER says where the package is unpacked
# (docs/development.md).
# shellcheck source=tests/e2e/e2e.sh
. tests/e2e/e2e.sh || exit
need_bpf
sdk=${OTEL_SDK:-}/usr
libraries=$(echo "$sdk"/lib/*-linux-gnu)
if ! echo '#include <opentelemetry/trace/provider.h>' | g++ -std=c++17 -I"$sdk/include" -fsyntax-only -x c++ - 2>/dev/null; then
	echo "ok 1 - the C++ SDK # SKIP there is no opentelemetry-cpp-dev"
	echo "1..1"
	exit 0
fi

every_span() {
	g++ -std=c++17 -O2 -I"$sdk/include" "$e2e/unmodified/otel_sdk.cc" -o "$tmp/sdk" -L"$libraries" -Wl,-rpath,"$libraries" -Wl,-rpath-link,"$libraries" \
		-lopentelemetry_trace -lopentelemetry_exporter_ostream_span -lopentelemetry_common -lopentelemetry_resources -lpthread || fail "it cannot be compiled" || return
	"$recorder" -q --otel -o "$tmp/sdk.txtrace" -- env LD_LIBRARY_PATH="$libraries" "$tmp/sdk" 4 60 >"$tmp/sdk.out" || fail "ended with $?" || return
	"$reader" export --format jsonl -o "$tmp/sdk.jsonl" "$tmp/sdk.txtrace" && python3 "$e2e/check_otel_sdk.py" "$tmp/sdk.jsonl" "$tmp/sdk.out"
}

check "every span that the SDK exports is seen, with what it waits for" every_span
finish
