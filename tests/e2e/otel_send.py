# SPDX-License-Identifier: BSD-2-Clause
"""otel_send.py URL <WRITER.out

Sends the spans of tests/programs/otel_writer.c as a tracer does: each when it has ended, a batch every half second.
"""
import http.client
import json
import sys
import time
import urllib.parse


def main():
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(sys.argv[1]).netloc)
    spans, sent = [], time.time()

    def send():
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"{}"), answer.status
        spans.clear()

    for line in sys.stdin:
        if not line.startswith("abab"):
            continue
        trace, span = line.split()[:2]
        parent = span[:-2] + "01" if span.endswith("02") else ""
        now = time.time_ns()
        times = {"startTimeUnixNano": str(now - 9_000_000), "endTimeUnixNano": str(now)}
        spans.append({"traceId": trace, "spanId": span, "parentSpanId": parent, "name": "n", **times})
        if time.time() > sent + 0.5:
            send()
            sent = time.time()
    send()


main()
