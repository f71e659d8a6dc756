# SPDX-License-Identifier: BSD-2-Clause
"""What txtrace serves: pages of a log, as a browser and as others ask for them. Prints TAP.

    serve_check.py TXTRACE LOG FOLDER
"""
import base64
import gzip
import hashlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

from browser import Browser

TXTRACE, LOG, FOLDER = sys.argv[1:4]
LIMIT_S = 60
number = 0


class Served:
    """A command that serves, until the block ends: then by SIGINT, with status 0."""

    def __init__(self, *command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen([TXTRACE, *self.command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        self.host, self.port, self.path = re.search(r"http://([^/]*):(\d+)(/[0-9a-f]{32}/)$", self.line).groups()
        self.url = f"http://{self.host}:{self.port}{self.path}"
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=LIMIT_S)
        self.said = self.process.stderr.read()

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.host.strip("[]"), int(self.port), timeout=LIMIT_S)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body


def same(what, got, wanted):
    assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


def run(*command):
    return subprocess.run([TXTRACE, *command], check=True, stdout=subprocess.PIPE).stdout


# ---- over HTTP ----

def the_page():
    """Byte for byte what -o writes, also of a part; what ends it is no failure."""
    with Served("view", "--serve", "127.0.0.1:0", LOG) as served:
        status, headers, body = served.ask(served.path)
        same("status", status, 200)
        same("type", headers["Content-Type"], "text/html; charset=utf-8")
        same("kept", headers["Cache-Control"], "no-store")
        assert body == run("view", LOG), "the page is another one"
        part = served.ask(served.path + "?from=2000&to=5000")[2]
        assert part == run("view", "--from", "2000abs", "--to", "5000abs", LOG), "the page of a part is another one"
        assert part != body, "the part is the whole"
    same("exit status", served.process.returncode, 0)
    same("messages", served.said, "")


def data_of(page):
    """The document in the page."""
    coded = re.search(rb'id="data">([^<]*)<', page).group(1)
    return json.loads(gzip.decompress(base64.b64decode(coded)))


def more_of_a_part():
    """Of 150,000 spans, each shorter than the one before, the page has room for 100,000; a part of the short ones is there with all of them."""
    lines = ['header pid=1 cpus=1 command="large" start_monotonic_ns=1000']
    for i in range(150000):
        begin = 1000 + 300000 * i
        wall = 200000 - i
        lines.append(f'span begin_ns={begin} end_ns={begin + wall} pid=1 tid=1 end_tid=1 id={i + 1} label="tx" work_ns={wall} on_cpu_ns={wall}')
    log = f"{FOLDER}/large.txtrace"
    subprocess.run([f"{os.path.dirname(TXTRACE)}/cli/make_log", log], input="\n".join(lines).encode(), check=True)
    with Served("view", "--serve", "127.0.0.1:0", log) as served:
        spans = data_of(served.ask(served.path)[2])["spans"]
        same("spans of the whole", (len(spans["begin"]), int(spans["id"][-1])), (100000, 100000))
        first, last = 140000, 149000
        part = served.ask(f"{served.path}?from={1000 + 300000 * first}&to={1000 + 300000 * last}")[2]
        same("spans of the part", [int(identity) for identity in data_of(part)["spans"]["id"]], list(range(first + 1, last + 1)))


def only_who_knows_the_address():
    with Served("view", "--serve", "127.0.0.1:0", LOG) as served:
        same("another word", served.ask("/" + "0" * 32 + "/")[0], 404)
        same("no word", served.ask("/")[0], 404)
        same("another page", served.ask(served.path + "etc/passwd")[0], 404)
        same("a way out", served.ask(served.path + "../../etc/passwd")[0], 404)
        same("another host", served.ask(served.path, Host="evil.example")[0], 403)
        same("by its other name", served.ask(served.path, Host=f"localhost:{served.port}")[0], 200)
        same("not asked for", served.ask(served.path, "POST")[0], 405)
        for query in "from=x", "from=-1", "from=", "to=1e9", "from=" + "9" * 40:
            same(query, served.ask(f"{served.path}?{query}")[0], 404)
    with Served("view", "--serve", "127.0.0.1:0", LOG) as again:
        assert again.path != served.path, "the word is the same"


def version_6():
    with Served("view", "--serve", "[::1]:0", LOG) as served:
        same("status", served.ask(served.path)[0], 200)


def has_version_6():
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
        return True
    except OSError:
        return False


def the_trace():
    with Served("open", "--no-browser", LOG) as served:
        status, headers, body = served.ask(served.path + "trace")
        same("status", status, 200)
        assert body == run("export", "--format", "perfetto", LOG), "the trace is another one"
        same("shared", headers["Cross-Origin-Resource-Policy"], "same-origin")
        page = served.ask(served.path)[2].decode()
        assert "https://ui.perfetto.dev" in page and "default-src 'none'" in page, page


def a_name_that_is_markup():
    name = f"{FOLDER}/\"><img src=x onerror=alert(1)>.txtrace"
    shutil.copy(LOG, name)
    with Served("open", "--no-browser", name) as served:
        page = served.ask(served.path)[2].decode()
        assert "<img" not in page and "&lt;img" in page, page


# ---- in a browser ----

def details_of_a_part(browser):
    with Served("view", "--serve", "127.0.0.1:0", LOG) as served:
        page = browser.open(served.url)
        before = page.run("txtrace.page.spanCount")
        page.run("txtrace.view.setWindow(0, txtrace.page.end_ns / 4)")
        page.run("document.getElementById('detail-part').click()")
        page.wait("location.search !== '' && document.documentElement?.dataset.ready")
        assert 0 < page.run("txtrace.page.spanCount") < before, "the part has as many spans"
        same("the part's end", page.run("document.getElementById('detail-whole').disabled"), False)
        page.run("document.getElementById('detail-whole').click()")
        page.wait("location.search === '' && document.documentElement?.dataset.ready")
        same("spans of the whole", page.run("txtrace.page.spanCount"), before)
        same("errors", page.errors, [])


FAKE = b"""<!DOCTYPE html><title>Perfetto's side</title><script>
let asked = 0;
window.addEventListener("message", (event) => {
  if (event.data === "PING") { if (++asked >= 3) event.source.postMessage("PONG", event.origin); return; }
  fetch("/got?title=" + encodeURIComponent(event.data.perfetto.title), { method: "POST", body: event.data.perfetto.buffer });
});
</script>"""


class Perfetto(http.server.BaseHTTPRequestHandler):
    """Plays ui.perfetto.dev's side of the handshake."""
    got = []

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(FAKE)

    def do_POST(self):
        Perfetto.got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def the_handshake(browser):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Perfetto)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Served("open", "--no-browser", "--ui", f"http://127.0.0.1:{server.server_port}", LOG) as served:
        page = browser.open(served.url, ready="document.getElementById('show') !== null")
        x, y = page.run("(() => { const box = document.getElementById('show').getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; })()")
        for kind in "mousePressed", "mouseReleased":  # no frame comes afterwards: the new window is in front
            page.mouse(kind, x, y, button="left", buttons=1, clickCount=1)
        end = time.monotonic() + LIMIT_S
        while not Perfetto.got and time.monotonic() < end:
            page.run("1")
            time.sleep(0.05)
        assert Perfetto.got, f"nothing came: {page.run('document.body.textContent')}, {page.errors}"
        path, body = Perfetto.got[0]
        same("what was sent", hashlib.sha256(body).hexdigest(), hashlib.sha256(run("export", "--format", "perfetto", LOG)).hexdigest())
        same("its title", path, "/got?title=" + os.path.basename(LOG))
        page.wait("document.getElementById('state').textContent === 'Perfetto has the trace.'")
    server.shutdown()


def case(name, function, *arguments):
    global number
    number += 1
    try:
        function(*arguments)
        print(f"ok {number} - {name}", flush=True)
    except Exception:
        print(f"not ok {number} - {name}")
        for line in traceback.format_exc().splitlines()[-6:]:
            print(f"# {line[:300]}", flush=True)


def skip(name, reason):
    global number
    number += 1
    print(f"ok {number} - {name} # SKIP {reason}")


case("view --serve: the page, and a part of it", the_page)
case("a part has what the whole has no room for", more_of_a_part)
case("only who knows the address gets anything", only_who_knows_the_address)
if has_version_6():
    case("at an address of IPv6", version_6)
else:
    skip("at an address of IPv6", "this machine has none of its own")
case("open: the trace, as export writes it", the_trace)
case("a file's name is no markup", a_name_that_is_markup)
if shutil.which("chromium"):
    with Browser() as chromium:
        case("in a browser: more detail of a part, and the whole again", details_of_a_part, chromium)
        case("open: Perfetto's handshake", the_handshake, chromium)
else:
    for skipped in "in a browser: more detail of a part", "open: Perfetto's handshake":
        skip(skipped, "there is no chromium")
print(f"1..{number}")
