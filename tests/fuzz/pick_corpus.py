# SPDX-License-Identifier: BSD-2-Clause
"""pick_corpus.py CONTROL FOLDER: makes FOLDER hold a few small inputs that cover as much code as possible, out of those that libFuzzer's merge has run.

CONTROL is what -merge_control_file wrote. Whatever is called found_… stays: what once broke something. What is picked gets the name of its SHA-1.
"""
import hashlib
import pathlib
import sys

# All corpora together stay below 300 KB.
BUDGET_BYTES = {"batch": 40000, "code": 10000, "context": 2000, "elf": 20000, "export": 45000, "import_monad": 15000, "import_perf": 15000, "index": 5000, "log": 40000, "repair": 40000, "seek": 35000, "stream": 45000, "sui_lanes": 3000, "traces": 8000,
                "wire": 30000}
# What one more file costs, whatever is in it.
FILE_BYTES = 60


def read_control(path):
    """The inputs' bytes, and the code that each covers; one that libFuzzer could not run covers nothing."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    count = int(lines[0])
    inputs = [pathlib.Path(line).read_bytes() for line in lines[2:2 + count]]
    covers = [frozenset()] * count
    for line in lines[2 + count:]:
        words = line.split()
        if words and words[0] == "FT":
            covers[int(words[1])] = frozenset(words[2:])
    return inputs, covers


def pick(inputs, covers, budget):
    """Again and again the input that covers most of what is left for its size."""
    left = frozenset().union(*covers)
    picked = []
    candidates = set(range(len(inputs)))
    while left and candidates:
        best = max(candidates, key=lambda i: (len(covers[i] & left) / (len(inputs[i]) + FILE_BYTES), -i))
        candidates.remove(best)
        if covers[best] & left and len(inputs[best]) <= budget:
            picked.append(inputs[best])
            budget -= len(inputs[best])
            left -= covers[best]
    return picked, len(left)


def main(control, folder):
    folder = pathlib.Path(folder)
    inputs, covers = read_control(control)
    picked, left = pick(inputs, covers, BUDGET_BYTES[folder.name])
    for path in folder.iterdir():
        if not path.name.startswith("found_"):
            path.unlink()
    kept = {path.read_bytes() for path in folder.iterdir()}
    for data in picked:
        if data not in kept:
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    everything = len(frozenset().union(*covers))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{folder.name:8} {len(list(folder.iterdir())):4} inputs {size:6} bytes, which cover {everything - left} of {everything}")


main(sys.argv[1], sys.argv[2])
