# SPDX-License-Identifier: BSD-2-Clause
"""What documents say of the fields of records, compared with the table of records.

record_documents.py RECORD_FIELDS            prints what differs, one line each
record_documents.py RECORD_FIELDS --update   writes the definitions of docs/export.schema.json
"""
import json
import re
import subprocess
import sys

SCHEMA, MANUAL = "docs/export.schema.json", "docs/export.md"
NUMBER64 = {"$ref": "#/$defs/number64"}


def fields_of_kinds(program):
    kinds = {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, *rest = line.split("\t")
        kinds.setdefault(kind, []).append(rest)
    return kinds


def enum_of(names):
    names = names.split(",")
    return {"enum": names if "unknown" in names else names + [None]}


def members_of(name, kind_of_value, is_optional, names):
    """What JSON holds for a field: pairs of a member and its schema; the first is required unless the field is optional."""
    simple = {"number64": NUMBER64, "number32": {"$ref": "#/$defs/number32"}, "id": {"$ref": "#/$defs/id"},
              "address": {"$ref": "#/$defs/address"}, "text": {"type": ["string", "null"]},
              "signed32": {"type": "integer", "minimum": -2**31, "maximum": 2**31 - 1},
              "signed64": {"type": "integer", "minimum": -2**63, "maximum": 2**63 - 1}}
    if kind_of_value in simple:
        return [(name, simple[kind_of_value])]
    if kind_of_value == "bool":
        return [(name, {"const": True} if is_optional and name != "truncated" else {"type": "boolean"})]
    if kind_of_value == "enum":
        return [(name, enum_of(names))]
    if kind_of_value == "set":
        return [(name, {"type": "array", "items": {"enum": names.split(",")}, "uniqueItems": True})]
    if kind_of_value == "key":
        return [(name, {"$ref": "#/$defs/hex"}), (name + "_text", {"type": "string"})]
    if kind_of_value == "value":
        return [(name, {"type": ["boolean", "number", "string"]}), (name + "_hex", {"$ref": "#/$defs/hex"})]
    return [(name, {"type": "string"}), (name + "_hex", {"$ref": "#/$defs/hex"})]


def record_schema(kind, fields):
    properties, required = {"type": {"const": kind}}, ["type"]
    for name, kind_of_value, group, entry, presence, names in fields:
        is_optional = presence == "optional"
        member = name if group == "-" else group
        if group == "-":
            properties.update(members_of(name, kind_of_value, is_optional, names))
        else:
            of = properties.setdefault(group, {"type": "object", "properties": {}, "required": [], "additionalProperties": False})
            of["properties"][entry] = NUMBER64
            of["required"].append(entry)
        if not is_optional and member not in required:
            required.append(member)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def expected_definitions(kinds):
    made = {kind: record_schema(kind, fields) for kind, fields in kinds.items()}
    recorder = made.pop("summary")
    del recorder["properties"]["type"]
    recorder["required"].remove("type")
    counts = {kind: NUMBER64 for kind in kinds}
    made["recorder"] = recorder
    made["record_counts"] = {"type": "object", "properties": counts, "required": list(counts), "additionalProperties": False}
    return made


def update(schema, expected):
    schema["$defs"].update(expected)
    summary = schema["$defs"]["summary"]["properties"]
    summary["recorder"] = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/recorder"}]}
    summary["records"] = {"$ref": "#/$defs/record_counts"}
    schema["oneOf"] = [{"$ref": f"#/$defs/{line}"} for line in ["header", *(kind for kind in expected if kind not in ("recorder", "record_counts")), "summary"]]
    text = json.dumps(schema, indent="\t", ensure_ascii=False)
    # What is short stands in one line.
    short = re.compile(r"[\[{][^\[\]{}]*[\]}]")
    text = short.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[0]).replace("{ ", "{").replace(" }", "}").replace("[ ", "[").replace(" ]", "]"), text)
    with open(SCHEMA, "w") as file:
        file.write(text + "\n")


def main():
    kinds = fields_of_kinds(sys.argv[1])
    with open(SCHEMA) as file:
        schema = json.load(file)
    expected = expected_definitions(kinds)
    if "--update" in sys.argv:
        update(schema, expected)
        return
    for name, definition in expected.items():
        if schema["$defs"].get(name) != definition:
            print(f"{SCHEMA}: the definition of {name} is not what the table of records says: run {sys.argv[0]} {sys.argv[1]} --update")
    listed = {one["$ref"].rsplit("/", 1)[1] for one in schema["oneOf"]}
    for kind in set(kinds) - listed:
        print(f"{SCHEMA}: lines of type {kind} are not listed")
    with open(MANUAL) as file:
        told = set(re.findall(r"`([^`\n]+)`", file.read()))
    for kind, fields in kinds.items():
        if kind not in told:
            print(f"{MANUAL} does not name the type {kind}")
        for name, _, group, entry, _, names in fields:
            for word in [name] if group == "-" else [group]:
                if word not in told:
                    print(f"{MANUAL} does not name the field {word} of {kind}")
            for word in names.split(",") if names != "-" else []:
                if word not in told:
                    print(f"{MANUAL} does not name the value {word} of {name} of {kind}")


main()
