# SPDX-License-Identifier: BSD-2-Clause
"""How figures are printed."""
from workload import quartiles


def row(name, values, unit="ns", note=""):
    low, middle, high = quartiles(values)
    print(f"  {name:<46} {middle:9.1f} {unit:<5} [{low:.1f} .. {high:.1f}]  {note}".rstrip())
    return middle


def differences(values, others):
    return [value - other for value, other in zip(values, others)]


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)
