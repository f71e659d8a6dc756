# SPDX-License-Identifier: BSD-2-Clause
"""A receiver of OTLP over HTTP that fails in the ways that it is told.

    otlp_receiver.py FOLDER ANSWER...

writes its port to FOLDER/port. Each request is answered by the next ANSWER, the last one over and over:

    200             takes it
    STATUS          that status, with a sentence; STATUS@N: with "Retry-After: N"; STATUS@date: with a date 1 s ahead
    STATUS~         that status with a Status of gRPC that says "says the status"
    partial=N       takes all but N spans, and says "not these"
    warning         takes all, and has a message
    close           reads it, and closes without an answer
    refuse=S        closes the port for S seconds, without reading
    stall=S         answers nothing for S seconds, and then closes
    large=N         413 for what has more than N spans, else takes it
    huge            200 with an answer of 5 MB
    garbage         200 with an answer that is no message
    elsewhere       307 to a port where a trap would note it

FOLDER/requests gets a line of JSON for each request, FOLDER/taken the body of each that was taken: one TracesData.
"""
import email.utils
import gzip
import http.server
import json
import os
import signal
import sys
import threading
import time


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            assert len(value) == length
        else:
            value, at = data[at : at + (8 if kind == 1 else 4)], at + (8 if kind == 1 else 4)
        yield key >> 3, value


def spans_of(body):
    """(what is around it, the span) of each span of a TracesData in protobuf."""
    for number, resource in fields(body):
        assert number == 1
        around = [value for inner, value in fields(resource) if inner != 2]
        for inner, scope in fields(resource):
            if inner == 2:
                for field, value in fields(scope):
                    if field == 2:
                        yield b"".join(around), value


def span_id(span):
    return next(value for number, value in fields(span) if number == 2).hex()


def ids_of(body, is_json):
    if is_json:
        return [span["spanId"] for resource in json.loads(body)["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]
    return [span_id(span) for _, span in spans_of(body)]


def message(number, content):
    content = content if isinstance(content, bytes) else content.encode()
    return bytes([number << 3 | 2, len(content)]) + content


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, folder, answers):
        super().__init__(("127.0.0.1", 0), Request)
        self.folder, self.answers, self.lock = folder, answers, threading.Lock()
        self.closed_until = 0

    def next_answer(self):
        with self.lock:
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def note(self, entry, body):
        with self.lock:
            with open(f"{self.folder}/requests", "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            if body is not None:
                with open(f"{self.folder}/taken", "ab") as file:
                    file.write(body)

    def verify_request(self, request, client_address):
        with self.lock:
            if self.answers[0].startswith("refuse=") and time.time() >= self.closed_until:
                seconds = float(self.answers.pop(0)[7:])
                self.closed_until = time.time() + seconds
        return time.time() >= self.closed_until


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, content=b"", kind="application/x-protobuf", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def ids(self, body, is_json):
        """What comes by otlp-hop may be anything."""
        try:
            return ids_of(body, is_json) if self.path == "/v1/traces" else []
        except Exception:  # pylint: disable=broad-except
            return []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        size = len(body)
        if self.headers.get("Content-Encoding") == "gzip" and body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        is_json = self.headers["Content-Type"] == "application/json"
        ids, how = self.ids(body, is_json), self.server.next_answer()
        word, _, value = how.partition("=")
        if word == "large":
            word = "413" if len(ids) > int(value) else "200"
        taken = word in ("200", "partial", "warning", "huge", "garbage")
        entry = {"path": self.path, "time": time.time(), "answer": how, "taken": taken, "spans": len(ids), "bytes": len(body), "sent": size}
        self.server.note({**entry, "headers": dict(self.headers), "ids": ids}, body if taken else None)
        kind = "application/json" if is_json else "application/x-protobuf"
        if word in ("200", "close", "stall"):
            if word == "stall":
                time.sleep(float(value))
            if word != "200":
                self.close_connection = True
                return
            self.answer(200, b"{}" if is_json else b"", kind)
        elif word == "partial":
            count = int(value)
            said = json.dumps({"partialSuccess": {"rejectedSpans": value, "errorMessage": "not these"}}).encode()
            self.answer(200, said if is_json else message(1, bytes([8, count]) + message(2, "not these")), kind)
        elif word == "warning":
            self.answer(200, message(1, message(2, "use a newer one")), kind)
        elif word == "huge":
            self.answer(200, b"\n" * 5_000_000, kind)
        elif word == "garbage":
            self.answer(200, b"\xff\x00\x1b[31m<html>" * 9, kind)
        elif word == "elsewhere":
            self.answer(307, Location=f"http://127.0.0.1:{self.server.server_address[1]}/trap")
        else:
            status, _, after = word.partition("@")
            if after:
                after = email.utils.formatdate(time.time() + 2, usegmt=True) if after == "date" else after
                self.answer(int(status), b"later", "text/plain", Retry_After=after)
            elif status.endswith("~"):
                self.answer(int(status[:-1]), bytes([8, 3]) + message(2, "says the status"))
            else:
                self.answer(int(status), b"says the text\nand more", "text/plain")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    receiver = Receiver(sys.argv[1], sys.argv[2:])
    with open(f"{sys.argv[1]}/port.new", "w", encoding="utf-8") as file:
        file.write(str(receiver.server_address[1]))
    os.rename(f"{sys.argv[1]}/port.new", f"{sys.argv[1]}/port")
    receiver.serve_forever(0.05)
