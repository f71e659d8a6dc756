# SPDX-License-Identifier: BSD-2-Clause
"""library_abi.py HEADER...: a C program that prints every enumerator with its number, and every member of every struct with its place and size."""
import re
import sys


def members(body):
    """The declared names, those of an anonymous union or struct included."""
    body = re.sub(r"\b(union|struct)\s*\{", "", body).replace("}", "")
    for declaration in body.split(";"):
        name = re.search(r"([a-z_0-9]+)\s*(\[[^]]*\]\s*)*$", declaration.strip())
        if name:
            yield name.group(1)


def declarations(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def main(paths):
    text = "".join(declarations(path) for path in paths)
    print("#include <stddef.h>\n#include <stdio.h>\n#include <txtrace/log.h>\n\nint main(void)\n{")
    for enum, body in re.findall(r"^enum (\w+) \{\n(.*?)^\};", text, flags=re.S | re.M):
        for name in re.findall(r"^\t(\w+)", body, flags=re.M):
            print(f'\tprintf("enum {enum} {name} %lld\\n", (long long){name});')
    for struct, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, flags=re.S | re.M):
        print(f'\tprintf("struct {struct} %zu\\n", sizeof(struct {struct}));')
        for name in members(body):
            member = f"((struct {struct} *)0)->{name}"
            print(f'\tprintf("struct {struct} {name} at %zu, %zu\\n", offsetof(struct {struct}, {name}), sizeof({member}));')
    print("\treturn 0;\n}")


main(sys.argv[1:])
