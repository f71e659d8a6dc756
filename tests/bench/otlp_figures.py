# SPDX-License-Identifier: BSD-2-Clause
"""How fast spans go to a receiver of OpenTelemetry's protocol: CPU of the sender, beside writing them to a file."""
import http.client
import http.server
import os
import signal
import struct
import subprocess
import threading
import time

from figures import title
from log_figures import Cost, figure

SPANS = 400_000
ROUNDS = 5


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes everything, and keeps its size."""

    protocol_version = "HTTP/1.1"
    taken = 0

    def log_message(self, *_):
        pass

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        Sink.taken += left
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def make_log(bench, path):
    """Spans with a tag and a parent, and no timeline."""
    with subprocess.Popen([os.path.join(bench.build, "cli", "make_log"), path], stdin=subprocess.PIPE, text=True) as maker:
        print("header pid=1 cpus=1 start_monotonic_ns=1", file=maker.stdin)
        for number in range(1, SPANS + 1):
            begin = number * 1000
            print(f'span begin_ns={begin} end_ns={begin + 700} pid=1 tid=1 end_tid=1 id={number * 2 + 2} parent={number // 20 * 2 + 1} '
                  f'label="label {number % 50}" tag="tag {number % 1000}" work_ns=600 on_cpu_ns={300 + number % 300}', file=maker.stdin)
        print("summary time_ns=500000000", file=maker.stdin)


JOINED_TRACES, JOINED_SPANS = 100_000, 10


def message(number, content):
    length = len(content)
    return bytes([number << 3 | 2]) + (bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])) + content


def make_joined(bench, log, as_json, packed, traces=JOINED_TRACES):
    """Traces of ten spans, nine below the first, each with one stay; the same traces in JSON and in protobuf."""
    with subprocess.Popen([os.path.join(bench.build, "cli", "make_log"), log], stdin=subprocess.PIPE, text=True) as maker, open(as_json, "w", encoding="ascii") as text, \
            open(packed, "wb") as binary:
        print('header pid=7 cpus=1 command="x" start_monotonic_ns=1000 start_realtime_ns=2000', file=maker.stdin)
        for number in range(traces):
            trace, spans, fields = f"{number + 1:032x}", [], b""
            for nth in range(JOINED_SPANS):
                own, begin = number * JOINED_SPANS + nth + 1, 2000 + number * 1000 + nth * 50
                span, parent = f"{own:016x}", f"{number * JOINED_SPANS + 1:016x}" if nth else ""
                for name, value in (("otel.before_ns", 3), ("otel.after_ns", 3)):
                    print(f'attribute time_ns={begin} pid=7 tid=1 span={own} name="{name}" value_type=uint value={value}', file=maker.stdin)
                print(f'attribute time_ns={begin} pid=7 tid=1 span={own} name="traceparent" value_type=string value="00-{trace}-{span}-01"\n'
                      f'span begin_ns={begin} end_ns={begin + 50} pid=7 tid=1 end_tid=1 id={own} label="otel" work_ns=50 on_cpu_ns=20 sleep_ns=30', file=maker.stdin)
                spans.append(f'{{"traceId":"{trace}","spanId":"{span}","parentSpanId":"{parent}","name":"op","kind":1,"startTimeUnixNano":"{begin + 1000}",'
                             f'"endTimeUnixNano":"{begin + 1050}","attributes":[{{"key":"http.route","value":{{"stringValue":"/a/b"}}}}]}}')
                fields += message(2, message(1, bytes.fromhex(trace)) + message(2, bytes.fromhex(span)) + message(4, bytes.fromhex(parent)) + message(5, b"op") +
                                  b"\x39" + struct.pack("<Q", begin + 1000) + b"\x41" + struct.pack("<Q", begin + 1050) +
                                  message(9, message(1, b"http.route") + message(2, message(1, b"/a/b"))))
            print('{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[' + ",".join(spans) + "]}]}]}", file=text)
            binary.write(message(1, message(1, b"") + message(2, fields)))
        print("summary time_ns=200000000", file=maker.stdin)


def join(bench):
    title("A join of 1 M spans, seconds of CPU (aim: < 5)")
    log, as_json, packed, out = (os.path.join(bench.scratch, name) for name in ("joined.txtrace", "traces.jsonl", "traces.otlp", "out"))
    make_joined(bench, log, as_json, packed)
    for name, path in (("JSON", as_json), ("protobuf", packed)):
        costs = sorted((Cost([os.path.join(bench.build, "txtrace"), "join", "-o", out, log, path], bench.scratch) for _ in range(ROUNDS)), key=lambda cost: cost.cpu)
        cost = costs[ROUNDS // 2]
        figure(name, cost.cpu, "s", f"{cost.wall:.1f} s of time; {cost.mib:.0f} MiB; {os.path.getsize(path) / 1e6:,.0f} MB in, {os.path.getsize(out) / 1e6:,.0f} MB out")
    for path in (log, as_json, packed, out):
        os.remove(path)


HOP_TRACES, REQUEST_TRACES = 20_000, 50


def requests_of(path, is_json):
    """Bodies of REQUEST_TRACES traces each."""
    with open(path, "rb") as file:
        data = file.read()
    if is_json:
        parts = [line[len(b'{"resourceSpans":['):-len(b"]}")] for line in data.splitlines()]
        return [b'{"resourceSpans":[' + b",".join(parts[at:at + REQUEST_TRACES]) + b"]}" for at in range(0, len(parts), REQUEST_TRACES)]
    size = len(data) // HOP_TRACES
    return [data[at:at + size * REQUEST_TRACES] for at in range(0, len(data), size * REQUEST_TRACES)]


def post_all(port, bodies, content_type):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for body in bodies:
        status = 503
        while status == 503:  # it has no room: as tracers do, again
            connection.request("POST", "/v1/traces", body, {"Content-Type": content_type})
            answer = connection.getresponse()
            answer.read()
            status = answer.status
            if status == 503:
                time.sleep(0.1)
        if status != 200:
            raise RuntimeError(f"the hop answers {status}")


def pass_on(command, bodies, content_type):
    """Seconds of CPU of a hop that passes them on, and its memory in MiB."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as hop:
        begin = hop.stdout.readline()  # requests to http://ADDRESS:PORT go to ...
        post_all(int(begin.split()[2].rsplit(":", 1)[1]), bodies, content_type)
        hop.send_signal(signal.SIGTERM)
        said = hop.stdout.read()
        _, status, usage = os.wait4(hop.pid, 0)
        hop.returncode = os.waitstatus_to_exitcode(status)
    if hop.returncode or f"{HOP_TRACES * JOINED_SPANS} of them with a ledger" not in said.replace(",", ""):
        raise RuntimeError(f"the hop ended with {hop.returncode}: {said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def hop_figures(bench, sink):
    title(f"otlp-hop: microseconds of CPU for a span, {JOINED_SPANS * REQUEST_TRACES} in a request; the log of the spans is read, too")
    log, as_json, packed = (os.path.join(bench.scratch, name) for name in ("joined.txtrace", "traces.jsonl", "traces.otlp"))
    make_joined(bench, log, as_json, packed, HOP_TRACES)
    command = ["env", "OTEL_EXPORTER_OTLP_COMPRESSION=none", os.path.join(bench.build, "txtrace"), "otlp-hop", "--listen", "127.0.0.1:0", "--to", sink, log]
    for name, path, content_type in (("JSON", as_json, "application/json"), ("protobuf", packed, "application/x-protobuf")):
        bodies = requests_of(path, name == "JSON")
        costs = sorted(pass_on(command, bodies, content_type) for _ in range(ROUNDS))
        cpu, mib = costs[ROUNDS // 2]
        figure(name, cpu / HOP_TRACES / JOINED_SPANS * 1e6, "us", f"{HOP_TRACES * JOINED_SPANS:,} spans; {mib:.0f} MiB")
    for path in (log, as_json, packed):
        os.remove(path)


def come_in(bench, tool, path, out):
    log = os.path.join(bench.scratch, "imported.txtrace")
    for form in ("otlp", "otlp-json"):
        subprocess.run(tool + ["-f", form, "-o", out, path], check=True)
        costs = sorted((Cost([tool[0], "import", "-f", "otlp", "-o", log, out], bench.scratch) for _ in range(ROUNDS)), key=lambda cost: cost.cpu)
        cost = costs[ROUNDS // 2]
        figure(f"import of {form}", SPANS / cost.cpu / 1e6, "M/s", f"{SPANS / cost.wall / 1e6:.2f} M in a second of time; {cost.mib:.0f} MiB; {os.path.getsize(out) / 1e6:,.1f} MB")


def otlp(bench):
    title("OTLP: millions of spans in a second of CPU (aim: >= 0.5)")
    path, out = os.path.join(bench.scratch, "spans.txtrace"), os.path.join(bench.scratch, "spans.otlp")
    make_log(bench, path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tool = [os.path.join(bench.build, "txtrace"), "export"]
    send = tool + ["--otlp", f"http://127.0.0.1:{server.server_address[1]}", path]
    ways = {
        "to a file": tool + ["-o", out, path],
        "to a receiver, uncompressed": ["env", "OTEL_EXPORTER_OTLP_COMPRESSION=none"] + send,
        "to a receiver, gzip": ["env", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"] + send,
    }
    costs = {name: [] for name in ways}
    sizes = {}
    for _ in range(ROUNDS):
        for name, command in ways.items():
            Sink.taken = 0
            costs[name].append(Cost(command, bench.scratch))
            sizes[name] = Sink.taken or os.path.getsize(out)
    for name, taken in costs.items():
        cost = sorted(taken, key=lambda cost: cost.cpu)[ROUNDS // 2]
        figure(name, SPANS / cost.cpu / 1e6, "M/s", f"{SPANS / cost.wall / 1e6:.2f} M in a second of time; {cost.mib:.0f} MiB; {sizes[name] / 1e6:,.1f} MB")
    hop_figures(bench, f"http://127.0.0.1:{server.server_address[1]}")
    server.shutdown()
    come_in(bench, tool, path, out)
    os.remove(path)
    os.remove(out)
    join(bench)
