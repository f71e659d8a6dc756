# SPDX-License-Identifier: BSD-2-Clause
"""Sources of Debian's packages: fetched with an apt of our own, marked with lines of ours, built. Nothing of the machine changes."""
import glob
import os
import re
import shutil
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org"


class TrialError(Exception):
    """A trial cannot be made here; the text says why."""


def suite():
    with open("/etc/os-release", encoding="ascii") as file:
        found = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
    if not found:
        raise TrialError("this is no Debian release")
    return found.group(1)


def apt_options(folder):
    os.makedirs(f"{folder}/lists/partial", exist_ok=True)
    os.makedirs(f"{folder}/cache/archives/partial", exist_ok=True)
    with open(f"{folder}/sources.list", "w", encoding="ascii") as file:
        file.write(f"deb-src [signed-by={KEYS}] {MIRROR}/debian {suite()} main\n")
        file.write(f"deb-src [signed-by={KEYS}] {MIRROR}/debian-security {suite()}-security main\n")
    return ["-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={folder}/lists",
            "-o", f"Dir::Cache={folder}/cache", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "-o", "Debug::NoLocking=1"]


def run(command, folder, log):
    # a build of its own, and no part of the make that may have called this
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with open(log, "a", encoding="utf-8") as out:
        if subprocess.run(command, cwd=folder, env=environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False).returncode:
            with open(log, encoding="utf-8", errors="replace") as file:
                raise TrialError(f"'{' '.join(command[:6])} ...' failed: {file.read()[-300:].strip()}")


def fetch(name, folder):
    """The path of the package's upstream archive in this folder."""
    archives = glob.glob(f"{folder}/{name}_*.orig.tar.*[!c]")
    if not archives:
        apt = f"{folder}/apt"
        os.makedirs(apt, exist_ok=True)
        options = apt_options(apt)
        run(["apt-get", *options, "update"], folder, f"{apt}/log")
        run(["apt-get", *options, "source", "--tar-only", "--download-only", name], folder, f"{apt}/log")
        archives = glob.glob(f"{folder}/{name}_*.orig.tar.*[!c]")
    if not archives:
        raise TrialError(f"Debian's archive has no source of {name}")
    return archives[0]


class Marker:
    """
    Adds lines to sources, by a file of ours. Each of its lines is a word and a text:
    file PATH; in TEXT: the function whose head begins so; after TEXT, before TEXT: the one line that is this, without its indentation; add TEXT: the new line.
    """

    def __init__(self, source):
        self.source = source
        self.path = None
        self.lines = []
        self.place = None

    def apply(self, marks):
        for line in marks.splitlines():
            word, _, text = line.partition(" ")
            if line and not line.startswith("#"):
                getattr(self, f"do_{word}")(text)
        self.save()

    def save(self):
        if self.path:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("\n".join(self.lines))

    def find(self, is_it, text):
        found = [number for number, line in enumerate(self.lines) if is_it(line)]
        if len(found) != 1:
            raise TrialError(f"'{text}' is on {len(found)} lines of {self.path}: the marks are for another version")
        return found[0]

    def do_file(self, path):
        self.save()
        self.path = os.path.join(self.source, path)
        with open(self.path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")

    def do_in(self, text):
        begin = self.find(lambda line: line.startswith(text) and not line.rstrip().endswith(";"), text)
        self.place = next(number for number in range(begin, len(self.lines)) if self.lines[number].rstrip().endswith("{")) + 1

    def do_after(self, text):
        self.place = self.find(lambda line: line.strip() == text, text) + 1

    def do_before(self, text):
        self.place = self.find(lambda line: line.strip() == text, text)

    def do_add(self, text):
        self.lines.insert(self.place, text)
        self.place += 1


def build(bench, name, commands, program):
    """Fetches, unpacks, marks and builds a program, once for each version of header and marks. Returns the folder of its sources."""
    folder = os.path.join(bench.build, "trials")
    os.makedirs(folder, exist_ok=True)
    with open(f"tests/trials/marks/{name}.marks", encoding="utf-8") as file:
        marks = file.read()
    with open("include/txtrace.h", encoding="utf-8") as file:
        header = file.read()
    source, stamp = f"{folder}/{name}", f"{folder}/{name}/built_with"
    if os.path.exists(f"{source}/{program}") and os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == marks + header:
                return source
    print(f"trials: building {name}", flush=True)
    archive = fetch(name, folder)
    shutil.rmtree(source, ignore_errors=True)
    os.makedirs(source)
    log = f"{folder}/{name}.log"
    run(["tar", "-xf", archive, "-C", source, "--strip-components=1", "--no-same-owner"], folder, log)
    shutil.copy("include/txtrace.h", f"{source}/txtrace.h")
    Marker(source).apply(marks)
    for command in commands:
        run(command, source, log)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(marks + header)
    return source
