# SPDX-License-Identifier: BSD-2-Clause
"""
python3 guest_image.py --machine x86_64 --root / --busybox FILE --build FOLDER --todo FILE --output FILE

Writes the image that a guest boots: an initramfs of the recorder, the reader and
the traced programs of FOLDER, the shell tests and the tools that they call, and
tests/kernels/guest/init, which runs the tests that the todo names, one line each:
TEST LIMIT. Programs and libraries come from below the root.
"""
import argparse
import ast
import glob
import gzip
import os
import stat
import subprocess
import sys

TOOLS = ["/bin/bash", "/usr/bin/python3", "/usr/bin/jq", "/usr/bin/taskset"]
FOLDERS = ["bin", "dev", "proc", "sys", "tmp", "run", "root", "etc"]
TESTS = ["tests/e2e", "tests/e2e/unmodified", "tests/kernels/guest"]
LOADED_LIBRARIES = ["libgcc_s.so.1"]  # by name, while a program runs: for pthread_exit


class Image:
    """Files by the path that they have in the guest, in the format of cpio -H newc."""

    def __init__(self, root, machine):
        self.root, self.machine = root, machine
        self.library_folders = [f"{root}{folder}/{machine}-linux-gnu" for folder in ("/lib", "/usr/lib")]
        self.entries = {}  # path -> (mode, bytes)

    def folder(self, path):
        if path and path not in self.entries:
            self.folder(os.path.dirname(path))
            self.entries[path] = (stat.S_IFDIR | 0o755, b"")

    def add(self, path, source):
        path = path.lstrip("/")
        if path in self.entries:
            return
        self.folder(os.path.dirname(path))
        with open(source, "rb") as file:
            data = file.read()
        executable = os.access(source, os.X_OK)
        self.entries[path] = (stat.S_IFREG | (0o755 if executable else 0o644), data)
        if data[:4] == b"\x7fELF":
            self.add_needed(source)

    def add_needed(self, source):
        """The libraries that an executable or a library is linked with, and the program that links them."""
        said = subprocess.run(["readelf", "-dlW", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        for line in said.splitlines():
            if "Requesting program interpreter:" in line:
                linker = line.split(": ")[1].rstrip("]")
                self.add(linker, os.path.realpath(self.below(linker)))
            elif "(NEEDED)" in line:
                self.add_library(line.split("[")[1].rstrip("]"), source)

    def add_library(self, name, user):
        found = [f"{folder}/{name}" for folder in self.library_folders if os.path.exists(f"{folder}/{name}")]
        if not found:
            sys.exit(f"'{user}' needs '{name}', which is not below '{self.root or '/'}'")
        self.add(f"/lib/{self.machine}-linux-gnu/{name}", os.path.realpath(found[0]))

    def below(self, path):
        """Links of a root that is not this machine's lead to somewhere in it."""
        source = self.root + path
        while os.path.islink(source):
            target = os.readlink(source)
            source = self.root + target if target.startswith("/") else os.path.join(os.path.dirname(source), target)
        return source

    def write(self, path):
        with gzip.open(path, "wb", compresslevel=1) as file:
            for number, (name, (mode, data)) in enumerate([*self.entries.items(), ("TRAILER!!!", (0, b""))], 1):
                fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
                header = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
                file.write(header + bytes(-len(header) % 4) + data + bytes(-len(data) % 4))


def python_files(scripts):
    """The files of the standard library that the scripts import, by this machine's python3, which has the version of the root's."""
    names = {"encodings.ascii", "encodings.latin_1"}
    for script in scripts:
        with open(script, encoding="utf-8") as file:
            for node in ast.walk(ast.parse(file.read())):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names.add(node.module)
    standard = sorted(name for name in names if name.split(".")[0] in sys.stdlib_module_names)
    program = "".join(f"import {name}\n" for name in standard) + (
        "import sys\n"
        "for module in list(sys.modules.values()):\n"
        "    for file in {getattr(module, '__file__', None), getattr(module, '__cached__', None)} - {None}:\n"
        "        print(file)\n")
    said = subprocess.run(["/usr/bin/python3", "-c", program], stdout=subprocess.PIPE, text=True, check=True, cwd="/").stdout
    return [path for path in said.split() if path.startswith("/usr/lib/")]


def fill(image, options):
    for folder in FOLDERS:
        image.folder(folder)
    image.add("/init", "tests/kernels/guest/init")
    image.add("/bin/busybox", options.busybox)
    image.add("/txtrace/todo", options.todo)
    for tool in TOOLS:
        image.add(tool, image.below(tool))
    for name in LOADED_LIBRARIES:
        image.add_library(name, "a traced program")
    for path in python_files(glob.glob("tests/e2e/*.py") + glob.glob("tests/e2e/unmodified/check_*.py")):
        path = path.replace(f"{os.uname().machine}-linux-gnu", f"{options.machine}-linux-gnu")
        if os.path.exists(image.below(path)):
            image.add(path, image.below(path))
        elif path.endswith(".pyc"):
            image.add(path, path)
    for name in ("txtrace", "txtrace-bpf"):
        image.add(f"/txtrace/build/{name}", f"{options.build}/{name}")
    for path in sorted(glob.glob(f"{options.build}/programs/*")):
        if os.access(path, os.X_OK):
            image.add(f"/txtrace/build/programs/{os.path.basename(path)}", path)
    for folder in TESTS:
        for path in sorted(glob.glob(f"{folder}/*")):
            if os.path.isfile(path):
                image.add(f"/txtrace/{path}", path)


def main():
    parser = argparse.ArgumentParser(description="writes the initramfs of a guest")
    for name in ("machine", "root", "busybox", "build", "todo", "output"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    image = Image(options.root.rstrip("/"), options.machine)
    fill(image, options)
    image.write(options.output)


main()
