# SPDX-License-Identifier: BSD-2-Clause
"""The columns of a table are the same in text, CSV and JSON, and what one can sort by.

columns_check.py TXTRACE LOG sorted|unsorted COMMAND...    prints what is not so; unsorted: nothing is sorted
"""
import csv
import io
import json
import subprocess
import sys

problems = 0


def problem(text):
    global problems
    problems += 1
    print(text)


def run(*arguments, fails=False):
    done = subprocess.run(arguments, capture_output=True, check=False, timeout=600)
    if (done.returncode > 1) != fails:
        problem(f"{' '.join(arguments[1:])}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def rows_of_csv(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def same(field, value):
    """A field of CSV and a value of JSON. Bytes that are no text are escaped in one, and replaced in the other."""
    if value is None:
        return field == ""
    if isinstance(value, str):
        return field == value or "\\" in field
    return field != "" and abs(float(field) - value) <= 1e-5 * max(1, abs(value))


def check_sorted(what, values):
    known = [value for value in values if value is not None]
    if values[:len(known)] != known:
        problem(f"{what}: unknown values are not the last")
    numbers = [not isinstance(value, str) for value in known]
    wanted = sorted(known, reverse=True) if all(numbers) else sorted(known, key=lambda value: value.encode())
    if known != wanted:
        problem(f"{what}: not in order: {known[:10]}")


def check(txtrace, log, command, sorts):
    words = command.split()
    header, rows = rows_of_csv(run(txtrace, *words, "--csv", log)[0])
    document = json.loads(run(txtrace, *words, "--json", "--columns", ",".join(header), log)[0])
    if len(rows) != len(document["rows"]):
        problem(f"{command}: {len(rows)} rows of CSV, {len(document['rows'])} of JSON")
    for row, members in zip(rows, document["rows"]):
        for name, field in zip(header, row):
            if not same(field, members[name]):
                problem(f"{command}: {name} is {field!r} in CSV and {members[name]!r} in JSON")
    if len(set(header)) != len(header):
        problem(f"{command}: a column is there twice")
    said = run(txtrace, *words, "--columns", "surprise", log, fails=True)[1]
    if f"there is no column 'surprise'; there are {', '.join(header)}" not in said:
        problem(f"{command}: not all columns are said: {said}")
    text = run(txtrace, *words, "--columns", ",".join(header), "--limit", "1000000", log)[0]
    if len(text.splitlines()) < len(rows) + 2:
        problem(f"{command}: not all rows are in the text")
    for name in header if sorts and command != "spans" else []:  # whose --sort chooses the spans
        ordered = json.loads(run(txtrace, *words, "--json", "--columns", name, "--sort", name.removesuffix("_ns"), log)[0])["rows"]
        check_sorted(f"{command} --sort {name}", [members[name] for members in ordered])


def main(txtrace, log, sorts, *commands):
    for command in commands:
        check(txtrace, log, command, sorts == "sorted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
