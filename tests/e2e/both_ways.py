# SPDX-License-Identifier: BSD-2-Clause
"""
python3 both_ways.py PROBES MEMORY

Each a file that `check_truth.py --misses` has written, with marks through probes and through shared memory: by how much the figures of the same
programs' spans miss what the programs say, beside each other. Exit status 1: a figure is not in both, or has not as many spans.
"""
import json
import sys


def read_misses(path):
    result = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            for name, (misses, widths) in json.loads(line).items():
                of_name = result.setdefault(name, ([], []))
                of_name[0].extend(misses)
                of_name[1].extend(widths)
    return result


def part_of(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] / 1000


def figures(misses, widths):
    return "".join(f"{part_of(misses, share):9.1f}" for share in (0.5, 0.99, 1)) + f"{part_of(widths, 0.5):9.1f}"


def main():
    probes, memory = map(read_misses, sys.argv[1:])
    counts = {name: (len(probes[name][0]), len(memory[name][0])) for name in probes if name in memory}
    print(f"# MEASURED {'us beyond what the program measured':36}{'through probes':>36}{'through memory':>36}")
    print(f"# MEASURED {'':36}" + 2 * f"{'typical':>9}{'1 of 100':>9}{'worst':>9}{'(known to':>9}" + ")")
    for name, (of_probes, _) in counts.items():
        print(f"# MEASURED   {name:18}{of_probes:>8} spans  {figures(*probes[name])}{figures(*memory[name])}")
    if not counts or set(probes) != set(memory) or any(of_probes != of_memory for of_probes, of_memory in counts.values()):
        print(f"not the same spans: {counts}, {sorted(probes)}, {sorted(memory)}")
        return 1
    return 0


sys.exit(main())
