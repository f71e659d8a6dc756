# SPDX-License-Identifier: BSD-2-Clause
"""Holds the metrics that a recorder wrote at its end against the spans of its log: check_metrics.py LOG.jsonl METRICS"""
import collections
import json
import re
import sys

BOUNDS = [step * 10**power for power in range(4, 11) for step in (1, 2, 5) if step * 10**power <= 20 * 10**9]
SERIES = re.compile(r'^(txtrace_span_\w+)\{(.*)\} (\S+)$')


def seconds(ns):
    return '%d.%09d' % (ns // 10**9, ns % 10**9)


def expect_histogram(expected, name, labels, values):
    for bound in BOUNDS:
        expected[f'{name}_bucket{{{labels},le="{bound / 1e9:g}"}}'] = str(sum(value <= bound for value in values))
    expected[f'{name}_bucket{{{labels},le="+Inf"}}'] = str(len(values))
    expected[f'{name}_sum{{{labels}}}'] = seconds(sum(values))
    expected[f'{name}_count{{{labels}}}'] = str(len(values))


def parts_of(span):
    for name, ns in span['blocked'].items():
        yield 'blocked_' + name, ns
    for name in ('on_cpu', 'stolen', 'interrupt', 'runnable', 'detached', 'unknown'):
        yield name, span.get(name + '_ns', 0)


def expectations(path):
    spans = collections.defaultdict(list)
    for line in open(path, encoding='utf-8'):
        record = json.loads(line)
        if record['type'] == 'span':
            spans[record['label']].append(record)
    expected = {}
    for label, of_label in spans.items():
        labels = 'label="%s"' % label.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
        exact = [span for span in of_label if not span['lower_bound']]
        expect_histogram(expected, 'txtrace_span_wall_seconds', labels, [span['end_ns'] - span['begin_ns'] for span in exact])
        parts = collections.defaultdict(list)
        for span in exact:
            for part, ns in parts_of(span):
                parts[part].append(ns)
        for part, values in parts.items():
            if any(values):
                expect_histogram(expected, 'txtrace_span_part_seconds', f'{labels},part="{part}"', values)
        expected[f'txtrace_span_lower_bounds_total{{{labels}}}'] = str(len(of_label) - len(exact))
    return expected


def main():
    expected = expectations(sys.argv[1])
    found = {}
    for line in open(sys.argv[2], encoding='utf-8'):
        match = SERIES.match(line.rstrip('\n'))
        if match:
            found[f'{match[1]}{{{match[2]}}}'] = match[3]
    wrong = [name for name in sorted(expected.keys() | found.keys()) if expected.get(name) != found.get(name)]
    for name in wrong[:20]:
        print(f'{name}: {found.get(name)}, not {expected.get(name)}')
    print(f'{len(expected)} series, {len(wrong)} of them wrong')
    sys.exit(1 if wrong or not expected else 0)


main()
