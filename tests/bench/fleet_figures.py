# SPDX-License-Identifier: BSD-2-Clause
"""What it costs to send logs to ClickHouse, and to ask there: Debian's server on this machine."""
import os
import shutil
import socket
import subprocess
import time
import urllib.request

from figures import title
from log_figures import Cost, captures, figure, info

MEGABYTES = 8
ROUNDS = 3
CONFIG = """<yandex><logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
<http_port>{1}</http_port><listen_host>127.0.0.1</listen_host><path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><mark_cache_size>100000000</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database><users_config>{0}/users.xml</users_config></yandex>"""
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users></yandex>"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for name in "data", "tmp":
            os.makedirs(os.path.join(folder, name))
        for name, text in ("config.xml", CONFIG), ("users.xml", USERS):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text.format(folder, self.port))
        self.process = subprocess.Popen(["clickhouse-server", f"--config-file={folder}/config.xml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                self.ask("SELECT 1", "default")
                return
            except OSError:
                time.sleep(0.1)

    def ask(self, query, database="txtrace"):
        with urllib.request.urlopen(f"{self.url}/?database={database}", query.encode()) as answer:
            return answer.read().decode().split()

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measure(bench, server, path):
    command = [os.path.join(bench.build, "txtrace")]
    log = os.path.join(path, "bank.txtrace")
    rows = info(bench, log)["records"]
    spans = rows["span"]
    ships, servers = [], []
    for _ in range(ROUNDS):
        server.ask("DROP DATABASE IF EXISTS txtrace", "default")
        subprocess.run(command + ["fleet", "--clickhouse", server.url, "create"], check=True, stdout=subprocess.DEVNULL)
        begin = server.cpu()
        ships.append(Cost(command + ["ship", "-q", "--once", "--clickhouse", server.url, path], bench.scratch))
        servers.append(server.cpu() - begin)
    ship = sorted(ships, key=lambda cost: cost.cpu)[ROUNDS // 2]
    sent = int(server.ask("SELECT sum(row_cnt) FROM files")[0])
    figure(f"txtrace ship, {spans / 1e6:.1f} M spans, {sent / 1e6:.1f} M rows", sent / ship.cpu / 1e6, "M rows/s",
           f"of its CPU (aim: >= 1 M spans/s: {spans / ship.cpu / 1e6:.2f}); {ship.wall:.1f} s, {ship.mib:.0f} MiB at most")
    figure("the server meanwhile", sorted(servers)[ROUNDS // 2] / sent * 1e6, "s of CPU for a million rows")
    for name, cnt in ("spans", spans), ("blocks", int(server.ask("SELECT count() FROM blocks")[0])):
        size = int(server.ask(f"SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'txtrace' AND table = '{name}'")[0])
        figure(f"on disk, a row of {name}", size / max(cnt, 1), "bytes")
    report = Cost(command + ["report", log], bench.scratch)
    for options in [], ["--exact"]:
        asked = Cost(command + ["fleet", "--clickhouse", server.url, "report"] + options, bench.scratch)
        figure(" ".join(["fleet report"] + options), asked.wall, "s", f"txtrace report: {report.wall:.2f} s")


def fleet(bench):
    title("Logs to ClickHouse, and questions there")
    if not shutil.which("clickhouse-server"):
        print("  there is no clickhouse-server here")
        return
    path = os.path.join(bench.scratch, "fleet_logs")
    os.makedirs(path)
    os.rename(captures(bench)[1].repeat("fleet", "--megabytes", str(MEGABYTES)), os.path.join(path, "bank.txtrace"))
    server = Server(os.path.join(bench.scratch, "clickhouse"))
    try:
        measure(bench, server, path)
    finally:
        server.stop()
    shutil.rmtree(path)
