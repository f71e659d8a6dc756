# SPDX-License-Identifier: BSD-2-Clause
"""
python3 daemon_set.py args|capabilities MANIFEST      prints them, one a line
python3 daemon_set.py check MANIFEST TYPES            compares a manifest with the types of Kubernetes' API: unknown and missing members, and
                                                      values of another type, one line each; exit status 1 if there are any

TYPES: the folder of npm's kubernetes-models, of which the declarations are read (*.d.ts). Types of the package "apimachinery" are not there: of them only
is known that metadata and selectors are objects, and what quantities and ports may be.
"""
import os
import re
import sys

import yaml

MEMBER = re.compile(r'^    "([^"]+)"(\??): (.*)$')
APIMACHINERY = {"ObjectMeta": dict, "LabelSelector": dict, "Quantity": (str, int, float), "IntOrString": (str, int)}


class Types:
    def __init__(self, root):
        self.root, self.known = root, {}

    def find(self, name):
        """IIoK8sApiCoreV1Container: {member: (is optional, type)}; None: it is not in this package."""
        if name not in self.known:
            self.known[name] = self.read(name)
        return self.known[name]

    def read(self, name):
        match = re.fullmatch(r"IIoK8sApi(Apps|Core)V1(\w+)", name)
        if not match:
            return None
        path = os.path.join(self.root, *(["apps"] if match[1] == "Apps" else []), "v1", match[2] + ".d.ts")
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        body = re.search(r"export interface I" + match[2] + r"\b[^{]*\{\n(.*?)\n\}", text, flags=re.S)[1]
        body = re.sub(r"\{\s*\[key: string\]: (\w+);\s*\}", r"Map<\1>;", body).replace(";;", ";")
        members = {}
        for line in body.split("\n"):
            member = MEMBER.match(line.rstrip(";"))
            if member:
                members[member[1]] = (bool(member[2]), member[3].rstrip(";"))
        return members


def complain(problems, where, what):
    problems.append(f"{where}: {what}")


def check_value(types, problems, where, value, wanted):
    if wanted.startswith("Array<"):
        if not isinstance(value, list):
            return complain(problems, where, "is no list")
        for index, item in enumerate(value):
            check_value(types, problems, f"{where}[{index}]", item, wanted[6:-1])
    elif wanted.startswith("Map<"):
        if not isinstance(value, dict):
            return complain(problems, where, "is no mapping")
        for key, item in value.items():
            check_value(types, problems, f"{where}.{key}", item, wanted[4:-1])
    elif wanted.startswith('"'):
        if value not in [choice.strip().strip('"') for choice in wanted.split("|")]:
            complain(problems, where, f"is {value!r}, not {wanted}")
    elif wanted in ("string", "number", "boolean"):
        kind = {"string": str, "number": (int, float), "boolean": bool}[wanted]
        if not isinstance(value, kind) or (wanted == "number" and isinstance(value, bool)):
            complain(problems, where, f"is {value!r}, no {wanted}")
    elif types.find(wanted) is not None:
        check_object(types, problems, where, value, types.find(wanted))
    else:
        kinds = [kind for name, kind in APIMACHINERY.items() if wanted.endswith(name)]
        if not kinds or not isinstance(value, kinds[0]):
            complain(problems, where, f"is {value!r}, of type {wanted}")
    return None


def check_object(types, problems, where, value, members):
    if not isinstance(value, dict):
        return complain(problems, where, "is no mapping")
    for name in value.keys() - members.keys():
        complain(problems, where, f"has an unknown member {name!r}")
    for name, (is_optional, wanted) in members.items():
        if name in value:
            check_value(types, problems, f"{where}.{name}", value[name], wanted)
        elif not is_optional:
            complain(problems, where, f"lacks {name!r}")
    return None


def check(manifest, root):
    types, problems = Types(root), []
    check_object(types, problems, "", manifest, types.find("IIoK8sApiAppsV1DaemonSet"))
    template = manifest["spec"]["template"]
    if not manifest["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items():
        complain(problems, ".spec.selector", "does not select the template")
    names = {volume.get("name") for volume in template["spec"]["volumes"]}
    for container in template["spec"]["containers"]:
        if {mount.get("name") for mount in container["volumeMounts"]} != names:
            complain(problems, container["name"], "does not mount what is there")
    print("\n".join(problems))
    return 1 if problems else 0


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        manifest = yaml.safe_load(file)
    container, = manifest["spec"]["template"]["spec"]["containers"]
    if sys.argv[1] == "check":
        return check(manifest, sys.argv[3])
    print("\n".join(container["args"] if sys.argv[1] == "args" else container["securityContext"]["capabilities"]["add"]))
    return 0


sys.exit(main())
