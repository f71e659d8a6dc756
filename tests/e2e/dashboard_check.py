# SPDX-License-Identifier: BSD-2-Clause
"""
dashboard_check.py structure DASHBOARD [PAGE]
dashboard_check.py queries DASHBOARD PROMETHEUS-URL

Checks the Grafana dashboard. structure: panels do not overlap, each says what it
shows and asks for metrics that the recorder serves (PAGE), and uses no variable
that is not defined. queries: a real Prometheus answers each query, and has data
for it.
"""
import json
import re
import sys
import urllib.parse
import urllib.request

# A program without losses, whose account is complete, has no series of these.
MAY_BE_EMPTY = {"txtrace_span_lower_bounds_total"}
BUILT_IN = {"__rate_interval"}


def fail(sentence):
    print(sentence)
    sys.exit(1)


def targets(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def check_structure(dashboard, page):
    seen, cells = set(), {}
    served = set(re.findall(r"^(txtrace_\w+)", page, re.M))
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    for panel in dashboard["panels"]:
        if panel["id"] in seen:
            fail(f"two panels have the id {panel['id']}")
        seen.add(panel["id"])
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            fail(f"'{panel['title']}' is wider than the page")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if (x, y) in cells:
                    fail(f"'{panel['title']}' lies on '{cells[x, y]}'")
                cells[x, y] = panel["title"]
        if panel["type"] != "row" and not (panel["description"] and panel["targets"] and panel["fieldConfig"]["defaults"]["unit"]):
            fail(f"'{panel['title']}' lacks a description, a query or a unit")
    for title, query in targets(dashboard):
        unknown = {name for name in re.findall(r"\$(\w+)", query)} - variables - BUILT_IN
        if unknown:
            fail(f"'{title}' uses {unknown}, which are no variables")
        for metric in set(re.findall(r"txtrace_\w+", query)) - MAY_BE_EMPTY:
            if metric not in served:
                fail(f"'{title}' asks for {metric}, which the recorder does not serve")
    print(f"{len(dashboard['panels'])} panels, {sum(1 for _ in targets(dashboard))} queries")


def ask(url, query):
    address = f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def check_queries(dashboard, url):
    empty = []
    for title, query in targets(dashboard):
        query = query.replace("$__rate_interval", "1m").replace("$label", ".*").replace("$instance", ".*")
        answer = ask(url, query)
        if answer["status"] != "success":
            fail(f"'{title}': {query}: {answer.get('error')}")
        if not answer["data"]["result"] and not any(metric in query for metric in MAY_BE_EMPTY):
            empty.append(f"'{title}': {query}: no data")
    if empty:
        fail("\n".join(empty))
    print("each query has an answer")


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        dashboard = json.load(file)
    if sys.argv[1] == "structure":
        with open(sys.argv[3], encoding="utf-8") as file:
            check_structure(dashboard, file.read())
    else:
        check_queries(dashboard, sys.argv[3])


main()
