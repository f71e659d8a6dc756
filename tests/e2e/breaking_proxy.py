# SPDX-License-Identifier: BSD-2-Clause
"""ClickHouse behind a proxy that answers the first inserts itself.

    breaking_proxy.py TARGET-PORT PORT-FILE ANSWER...

Each ANSWER is the text of one status 500; behind them all goes through.
"""
import http.server
import os
import sys
import urllib.error
import urllib.request

answers = sys.argv[3:]


class Proxy(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "INSERT" in self.path and answers:
            self.answer(500, answers.pop(0).encode())
            return
        headers = {name: value for name, value in self.headers.items() if name.startswith("X-ClickHouse")}
        try:
            with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}{self.path}", body, headers)) as answer:
                self.answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.read())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
