# SPDX-License-Identifier: BSD-2-Clause
"""
python3 kernel_table.py docs/kernels.md

Writes the table of kernels and tests between the two comments of that page, from
the results of run_kernel.sh in build/kernels.
"""
import os
import sys

BEGIN, END = "<!-- table: tests/kernels/kernel_table.py -->\n", "<!-- end of the table -->\n"


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


def cell(results, test):
    if test not in results:
        return "not run"
    passed, failed, skipped, _ = results[test]
    said = f"{passed} passed"
    if failed:
        said += f", **{failed} failed**"
    return said + (f", {skipped} skipped" if skipped else "")


def main():
    tests = [(row[0], " ".join(row[3:])) for row in rows("tests/kernels/tests.table")] + [("kernel", "kernel's own complaints")]
    lines = ["| kernel | " + " | ".join(title for _, title in tests) + " | seconds |", "|---" * (len(tests) + 2) + "|"]
    for name, arch, *_ in rows("tests/kernels/kernels.table"):
        folder = f"build/kernels/{name}"
        if not os.path.exists(f"{folder}/results"):
            lines.append(f"| {name} | " + " | ".join(["not run"] * len(tests)) + " | |")
            continue
        results = {row[0]: [int(number) for number in row[1:5]] for row in rows(f"{folder}/results")}
        with open(f"{folder}/version", encoding="utf-8") as file:
            words = file.read().split()
        version = words[words.index("Debian") + 1] if "Debian" in words else words[0]
        seconds = sum(result[3] for result in results.values())
        lines.append(f"| {version}, {arch} | " + " | ".join(cell(results, test) for test, _ in tests) + f" | {seconds} |")
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n".join(lines) + "\n" + END + after)


main()
