# SPDX-License-Identifier: BSD-2-Clause
"""nginx under ab: from source, with marks and then by its functions; and Debian's own, which is stripped, by its threads and by libc's functions."""
import os
import re
import subprocess

from trial_bench import Account, wait_until
from trial_sources import TrialError, build
from trial_table import percentile

COMMANDS = [["./configure", "--without-http_rewrite_module", "--without-http_gzip_module", "--with-cc-opt=-O2 -g -I."], ["make", "-j2"]]
REQUESTS = 20000
CONFIGURATION = """
daemon off; worker_processes 1; pid %(folder)s/pid; error_log %(folder)s/error.log;
events { worker_connections 64; }
http {
	access_log %(folder)s/access.log;
	client_body_temp_path %(folder)s/t1; proxy_temp_path %(folder)s/t2; fastcgi_temp_path %(folder)s/t3; uwsgi_temp_path %(folder)s/t4; scgi_temp_path %(folder)s/t5;
	server { listen 127.0.0.1:%(port)d; root %(folder)s; }
}
"""


class Server:
    def __init__(self, bench, program, name):
        self.folder = os.path.join(bench.scratch, name)
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)
        with open(f"{self.folder}/page.html", "w", encoding="ascii") as file:
            file.write("<html>" + "text " * 800 + "</html>\n")
        self.port = 18000 + os.getpid() % 10000
        with open(f"{self.folder}/conf", "w", encoding="ascii") as file:
            file.write(CONFIGURATION % {"folder": self.folder, "port": self.port})
        self.process = subprocess.Popen([program, "-c", f"{self.folder}/conf", "-p", self.folder], stderr=subprocess.DEVNULL)
        wait_until(self.workers, "nginx")
        self.worker = self.workers()[0]

    def workers(self):
        if self.process.poll() is not None:
            raise TrialError("nginx ended at its start")
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def logged(self):
        with open(f"{self.folder}/access.log", encoding="ascii") as file:
            return sum(1 for _ in file)

    def load(self):
        """ab's complete and failed requests, and its percentiles in ns, as the client sees them."""
        percentiles = f"{self.folder}/percentiles"
        said = subprocess.run(["ab", "-q", "-n", str(REQUESTS), "-c", "8", "-e", percentiles, f"http://127.0.0.1:{self.port}/page.html"], check=True,
                              capture_output=True, text=True).stdout
        with open(percentiles, encoding="ascii") as file:
            times = {int(percent): float(ms) * 1e6 for percent, ms in (line.split(",") for line in file.read().splitlines()[1:])}
        numbers = {name: int(number) for name, number in re.findall(r"^(Complete|Failed) requests: +(\d+)", said, re.M)}
        return numbers["Complete"], numbers["Failed"], times

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def traced(bench, name, server, *options):
    """A recording of the worker under ab, what ab says, what the kernel accounted."""
    before = server.logged()
    with bench.record(name, "-p", str(server.worker), *options) as recording:
        account = Account(server.worker)
        said = server.load()
        passed = account.passed()
    return recording, said, passed, server.logged() - before


def marked(bench, source):
    table = bench.table
    server = Server(bench, f"{source}/objs/nginx", "marked")
    try:
        recording, (complete, failed, times), passed, logged = traced(bench, "nginx", server)
        requests = sorted(span["wall_ns"] for span in recording.spans("request"))
        table.row("requests, by a mark", len(requests), complete, "count", "ab, complete requests", must_equal=True)
        table.row("  failed", None, failed, "count", "ab")
        table.row("log", recording.label("log")["count"], logged, "count", "lines of access.log", must_equal=True)
        for percent in (50, 99):
            table.row(f"request: p{percent}", percentile(requests, percent), times[percent], "ns", "ab -e: with connecting, queueing and the network")
        bench.accounts(recording, passed, server.worker)
        network = sum(row["sum_ns"] for name, row in recording.reasons().items() if name not in ("network", "disk"))
        table.row("blocked, neither network nor disk", network, None, "ns")
        bench.losses(recording)
        functions = "nginx:ngx_http_process_request,ngx_http_log_request"
        recording, (complete, failed, _), _, logged = traced(bench, "nginxfunc", server, "--func", functions)
        table.row("requests, by --func", recording.label("ngx_http_process_request")["count"], complete, "count", "ab, complete requests", must_equal=True)
        table.row("  ngx_http_log_request", recording.label("ngx_http_log_request")["count"], logged, "count", "lines of access.log", must_equal=True)
        bench.losses(recording)
    finally:
        server.stop()


def debian(bench):
    table = bench.table
    server = Server(bench, "/usr/sbin/nginx", "debian")
    try:
        recording, _, passed, _ = traced(bench, "nginxthreads", server, "--threads")
        table.row("Debian's nginx, --threads", recording.read("report")["totals"]["exact"]["count"], 0, "count", "no spans", must_equal=True)
        bench.accounts(recording, passed, server.worker)
        # It is stripped, and exports functions to its modules.
        functions = ("--func", "nginx:ngx_http_process_request", "--func", "libc:write")
        recording, (complete, _, _), _, logged = traced(bench, "nginxlibc", server, *functions)
        requests = recording.label("ngx_http_process_request")["count"]
        table.row("  requests, by --func", requests, complete, "count", "ab, complete requests", must_equal=True)
        table.row("  write, for access.log", recording.label("write")["count"], logged, "count", "lines of access.log", must_equal=True)
        bench.losses(recording)
    finally:
        server.stop()


def trial(bench):
    bench.table.title("nginx, one worker, ab -n 20000 -c 8")
    bench.need("ab")
    marked(bench, build(bench, "nginx", COMMANDS, "objs/nginx"))
    if os.path.exists("/usr/sbin/nginx"):
        debian(bench)
    else:
        bench.table.note("Debian's nginx is not installed")
