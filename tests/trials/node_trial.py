# SPDX-License-Identifier: BSD-2-Clause
"""Node.js: a script that synchronizes a file and times that itself, by libc's function; and what its process used."""
import json
import os
import subprocess

from trial_table import quantiles

CALLS = 300
SCRIPT = """
const fs = require('fs');
const fd = fs.openSync(process.argv[1], 'w'), times = [];
process.stdin.once('data', () => {
	const before = process.resourceUsage();
	for (let i = 0; i < %d; i++) {
		fs.writeSync(fd, 'line\\n');
		const begin = process.hrtime.bigint();
		fs.fdatasyncSync(fd);
		times.push(Number(process.hrtime.bigint() - begin));
	}
	const after = process.resourceUsage();
	const cpu_us = after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime;
	console.log(JSON.stringify({times, cpu_us}));
	process.stdin.unref();
});
console.log('ready');
""" % CALLS


def trial(bench):
    table = bench.table
    table.title("Node.js, a script that synchronizes a file, --func libc:fdatasync")
    bench.need("node")
    command = ["node", "-e", SCRIPT, os.path.join(bench.scratch, "node.out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        with bench.record("node", "-p", str(process.pid), "--func", "libc:fdatasync") as recording:
            process.stdin.write("go\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            process.stdin.close()
            recording.wait()
    spans = recording.spans("fdatasync")
    table.row("fdatasync", len(spans), len(said["times"]), "count", "the script", must_equal=True)
    quantiles(table, "fdatasync", [span["wall_ns"] for span in spans], said["times"], "the script, process.hrtime around the call")
    table.row("  in all", sum(span["wall_ns"] for span in spans), sum(said["times"]), "ns", "the script")
    table.row("on-CPU, all threads", recording.workers(process.pid)["on_cpu_ns"], said["cpu_us"] * 1000, "ns", "getrusage of the loop (its end is not in it)")
    bench.losses(recording)
