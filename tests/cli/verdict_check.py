# SPDX-License-Identifier: BSD-2-Clause
"""Reports of diff and check, read by others: verdict_check.py json SCHEMA REPORT; xml REPORT; html REPORT; github REPORT."""
import html.parser
import json
import re
import sys
import xml.etree.ElementTree


def check_json(schema_path, path):
    import jsonschema
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    with open(path, encoding="utf-8") as file:
        report = json.load(file, parse_constant=lambda name: sys.exit(f"{name} is no JSON"))
    jsonschema.Draft202012Validator(schema).validate(report)


def check_xml(path):
    suite = xml.etree.ElementTree.parse(path).getroot()[0]
    found = {name: len(suite.findall(f"testcase/{name}")) for name in ("failure", "error", "skipped")}
    told = {name: int(suite.get({"failure": "failures", "error": "errors", "skipped": "skipped"}[name])) for name in found}
    if found != told or int(suite.get("tests")) != len(suite.findall("testcase")):
        sys.exit(f"it tells {told} of {suite.get('tests')}, and has {found} of {len(suite)}")


class Page(html.parser.HTMLParser):
    """Every element that is opened is closed; nothing is loaded, nothing runs."""
    VOID = {"meta"}

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe", "img", "link", "object") or any(name.startswith("on") or name in ("src", "href") for name, _ in attrs):
            sys.exit(f"<{tag} {attrs}>")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)  # of SVG, which closes what it opens
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit(f"</{tag}> closes nothing")


def check_html(path):
    page = Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    if page.open:
        sys.exit(f"not closed: {page.open}")


def check_github(path):
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            if not re.fullmatch(r"::(error|warning|notice) title=[^:,\r]+::([^%\r]|%(25|0A|0D|3A|2C))+", line):
                sys.exit(f"no annotation: {line}")


if __name__ == "__main__":
    {"json": check_json, "xml": check_xml, "html": check_html, "github": check_github}[sys.argv[1]](*sys.argv[2:])
