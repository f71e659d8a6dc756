# SPDX-License-Identifier: BSD-2-Clause
"""What the live view takes while it follows a log of some 10,000 spans a second."""
import os
import re
import subprocess
import time

from figures import row, title

RATE = 1600  # transactions of the bank a second: six spans each
WARM_S = 12  # until the window of 10 s is full


def spans_so_far(page):
    return int(re.search(r"^([\d,]+) spans", page, re.MULTILINE)[1].replace(",", ""))


def cpu_ns(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def peak_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s*(\d+)", file.read())[1]) / 1024


def live(bench):
    title("txtrace top, following the bank's log: CPU of each second, %")
    seconds = max(bench.rounds, 5)
    pages = os.path.join(bench.scratch, "pages")
    recorder = subprocess.Popen([bench.recorder_path, "-q", "--marks", "auto", "-o", bench.log, "--", bench.program("bank"), "--rate", str(RATE),
                                 "--seconds", str(WARM_S + seconds + 10), "--wait-traced", "30"], stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(bench.log + ".partial"):
            time.sleep(0.05)
        with open(pages, "w", encoding="utf-8") as file:
            viewer = subprocess.Popen([os.path.join(bench.build, "txtrace"), "top", "--batch", "100000", bench.log], stdout=file)
        time.sleep(WARM_S)
        shares, last_ns, last = [], cpu_ns(viewer.pid), time.monotonic_ns()
        for _ in range(seconds):
            time.sleep(1)
            used_ns, now = cpu_ns(viewer.pid), time.monotonic_ns()
            shares.append(100 * (used_ns - last_ns) / (now - last))
            last_ns, last = used_ns, now
        peak = peak_mib(viewer.pid)
        viewer.terminate()
        viewer.wait()
    finally:
        recorder.terminate()
        recorder.wait()
    with open(pages, encoding="utf-8") as file:
        text = file.read()
    length = float(re.findall(r" after ([\d.]+) s$", text, re.MULTILINE)[-1])
    row("txtrace top", shares, "%", note=f"aim < 1; {spans_so_far(text[text.rindex(' after '):]) / length:,.0f} spans/s, {peak:.0f} MiB at most")
