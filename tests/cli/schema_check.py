# SPDX-License-Identifier: BSD-2-Clause
"""What commands print with --json, against docs/commands.schema.json.

schema_check.py TXTRACE SCHEMA GAS LOG...    every command, on every log, and gas on GAS; prints what does not follow it
"""
import json
import subprocess
import sys

import jsonschema

# By the part of the schema that has to hold: the arguments before --json and the log.
COMMANDS = {
    "report_labels": ["report", "report --label t*", "report --sort p99", "report --where wall>3ms"],
    "report_keys": ["report --by thread", "report --by process", "report --by track", "report --by key:2", "report --by tag:shard", "report --by trace"],
    "report_reasons": ["report --by reason"],
    "report_costs": ["report --cost", "report --cost --by thread"],
    "spans": ["spans", "spans --sort lock -n 2", "spans --trace 0af7651916cd43dd8448eb211c80319c"],
    "tree": ["tree", "tree --sort self"],
    "tail": ["tail", "tail --percentile 65"],
    "histogram": ["histogram", "histogram --of lock"],
    "workers": ["workers", "workers --queue queue", "workers --sort -tid"],
    "concurrency": ["concurrency --buckets 3", "concurrency --buckets 3 --threads"],
    "blocked_objects": ["blocked", "blocked --sort count"],
    "blocked_reasons": ["blocked --by reason"],
    "blocked_labels": ["blocked --by label"],
    "blame": ["blame"],
    "neighbours_labels": ["neighbours --by label"],
    "neighbours_threads": ["neighbours --by thread", "neighbours --by thread --who process"],
    "info": ["info", "info --from 1ms --to 2s"],
    "verify": ["verify"],
    "plain": ["report --columns label,p99,lock", "report --by reason --columns name,sum", "report --cost --columns label,added",
              "spans --columns wall,label,tag", "tree --columns name,self", "tail --sort more", "histogram --sort count",
              "workers --columns thread,on_cpu", "concurrency --buckets 3 --sort mean", "blocked --columns object,ns",
              "blame --columns waiter,waker,ns", "neighbours --sort ns"],
}
GAS_COMMANDS = {"gas": ["gas"], "plain": ["gas --columns charge,total", "gas --by call --sort self"]}
problems = 0


def problem(text):
    global problems
    problems += 1
    print(text)


def run(txtrace, arguments, log):
    done = subprocess.run([txtrace, *arguments, "--json", log], capture_output=True, check=False, timeout=600)
    if done.returncode > 1:
        problem(f"{' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return None
    return json.loads(done.stdout)


def complain(validator, what, document):
    for error in list(validator.iter_errors(document))[:3]:
        problem(f"{what}: {error.json_path}: {error.message[:300]}")


def changed(document):
    """Documents that are not right any more: a member too many (which a plain one may have), one too few, one of another type."""
    yield {**document, "surprise": 1}
    yield {key: value for key, value in document.items() if key != "type"}
    yield {**document, "type": "surprise"}


def spans_of(txtrace, log):
    return [(span["id"], span["keyed"], span["pid"]) for span in run(txtrace, ["spans", "-n", "3"], log)["spans"]]


def main(txtrace, schema_path, gas, *logs):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    any_of = [entry["$ref"].rsplit("/", 1)[1] for entry in schema["anyOf"]]
    validators = {name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}) for name in any_of}
    used = set()

    def look(name, arguments, log):
        document = run(txtrace, arguments, log)
        if document is None:
            return
        what = f"{' '.join(arguments)} of {log.rsplit('/', 1)[-1]}"
        complain(validators[name], what, document)
        if name not in used and name != "sql":
            for number, wrong in enumerate(changed(document)):
                if validators[name].is_valid(wrong) and (name, number) != ("plain", 0):
                    problem(f"{what}: change {number} is not found")
        used.add(name)

    for log, by_name in [(gas, GAS_COMMANDS), *((log, COMMANDS) for log in logs)]:
        for name, commands in by_name.items():
            for command in commands:
                look(name, command.split(), log)
    for log in logs:
        for identity, is_keyed, pid in spans_of(txtrace, log):
            for name, command in (("show", "show"), ("critical_path", "critical-path")):
                arguments = [txtrace, command, "--json", "-p", str(pid), *(["-k"] if is_keyed else []), log, identity]
                done = subprocess.run(arguments, capture_output=True, check=False, timeout=600)
                complain(validators[name], f"{command} {identity} of {log}", json.loads(done.stdout))
                used.add(name)
        for row in run(txtrace, ["report", "--by", "trace"], log)["rows"][:3]:
            done = subprocess.run([txtrace, "show", "--json", log, row["name"]], capture_output=True, check=False, timeout=600)
            complain(validators["trace"], f"show {row['name']} of {log}", json.loads(done.stdout))
            used.add("trace")
        done = subprocess.run([txtrace, "sql", "--json", log, "SELECT * FROM spans LIMIT 5"], capture_output=True, check=False)
        complain(validators["sql"], f"sql of {log}", json.loads(done.stdout))
        used.add("sql")
    for name in sorted(set(any_of) - used - {"fleet"}):  # which tests/e2e/fleet.sh asks for
        problem(f"nothing was printed that {name} is about")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
