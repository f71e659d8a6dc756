# SPDX-License-Identifier: BSD-2-Clause
"""openssl speed, by functions of its library: it counts and times its operations itself."""
import re
import subprocess

SECONDS = 2


def trial(bench):
    table = bench.table
    table.title("OpenSSL, openssl speed rsa2048, --exe, --func of libcrypto, --func-returns hook")
    bench.need("openssl")
    command = ["openssl", "speed", "-mr", "-seconds", str(SECONDS), "rsa2048"]
    functions = "libcrypto:EVP_PKEY_sign,EVP_PKEY_verify"
    # Another one keeps the libraries known: those of a program that runs for the first time are probed some ms after its start.
    with subprocess.Popen(["openssl", "dgst"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as other, bench.record("openssl", "--exe", "/usr/bin/openssl", "--func-returns", "hook", "--func", functions) as recording:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        other.stdin.close()
    said = done.stdout + done.stderr
    signs, sign_s = re.search(r"^\+R1:(\d+):\d+:([\d.]+)", said, re.M).groups()
    verifies, verify_s = re.search(r"^\+R2:(\d+):\d+:([\d.]+)", said, re.M).groups()
    for name, count, seconds in (("EVP_PKEY_sign", int(signs), float(sign_s)), ("EVP_PKEY_verify", int(verifies), float(verify_s))):
        row = recording.label(name)
        # it tries each operation once before it measures
        table.row(name, row["count"], count + 1, "count", "openssl's own count, and one before it", must_equal=True)
        table.row("  mean", row["wall_ns"]["mean"], seconds / count * 1e9, "ns", "openssl's own time (of its CPU)")
        table.row("  mean on-CPU", row["sum"]["on_cpu_ns"] / max(row["count"], 1), seconds / count * 1e9, "ns", "the same")
    for line in recording.warnings():
        table.note(line)
    bench.losses(recording)
