# SPDX-License-Identifier: BSD-2-Clause
"""Pages and Markdown of commands, against their text.

    documents_check.py TXTRACE LOG COMMAND...    a page has the words of the text, is well-formed and has no scripts; tables of Markdown have equal rows
"""
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

TXTRACE, LOG, *COMMAND = sys.argv[1:]
RULE = "─"


def run(*options):
    return subprocess.run([TXTRACE, *COMMAND, *options, LOG], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, "COLUMNS": "120"}).stdout.decode()


def without_blanks(text):
    return "".join(text.split()).replace(RULE, "")


def check_page(text):
    page = run("--html")
    if not page.startswith("<!DOCTYPE html>\n") or "default-src 'none'" not in page or "\x01" in page:
        sys.exit("the page's head is not right")
    # what a browser would take for markup is only ours
    allowed = {"html", "head", "meta", "title", "style", "body", "h1", "p", "br", "div", "table", "tr", "th", "td", "span"}
    tags = set(re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", page))
    if tags - allowed:
        sys.exit(f"the page has {tags - allowed}")
    body = page[page.index("<body>"):page.index("</html>")].replace("<br>", "<br/>")
    root = xml.etree.ElementTree.fromstring(body)
    shown = ["".join(part.itertext()) for part in list(root)[1:-1]]
    if without_blanks("".join(shown)) != without_blanks(text):
        sys.exit(f"the page says\n{without_blanks(''.join(shown))}\nnot\n{without_blanks(text)}")
    for table in root.iter("table"):
        widths = {sum(int(cell.get("colspan", 1)) for cell in row) for row in table.iter("tr")}
        if len(widths) != 1:
            sys.exit(f"a table has rows of {widths} columns")


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line))


def check_markdown(text):
    markdown = run("--markdown")
    lines = markdown.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("|") and i and lines[i - 1].startswith("|") and cells(line) != cells(lines[i - 1]):
            sys.exit(f"rows differ: {lines[i - 1]} and {line}")
    if re.search(r"<[a-zA-Z/!]", markdown) or "\x01" in markdown:
        sys.exit("there is markup in the Markdown")
    # the same words: without what separates cells, and what is escaped
    words = [line for line in lines[1:] if not re.fullmatch(r"(\|-+:?)+\|", line)]
    said = html.unescape(re.sub(r"\\(.)", "\\1", re.sub(r"(?<!\\)\|", " ", "\n".join(words))))
    for word in set(text.replace(RULE, " ").split()):
        if word not in said:
            sys.exit(f"the Markdown lacks {word!r}")


def main():
    text = run()
    if not text.strip():
        sys.exit("the command printed nothing")
    check_page(text)
    check_markdown(text)


main()
