# SPDX-License-Identifier: BSD-2-Clause
"""The table of a trial: txtrace's figures, independent ones, and how they differ."""

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))


def time_text(ns):
    for size, unit in UNITS:
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}" if abs(ns) / size < 99.95 else f"{ns / size:,.0f} {unit}"
    return f"{ns:.0f} ns"


def text_of(value, unit):
    if value is None:
        return "-"
    if unit == "ns":
        return time_text(value)
    return f"{value:.1f} %" if unit == "%" else f"{value:,.0f}"


def difference(ours, theirs, unit):
    """How much txtrace's figure is above the independent one."""
    if ours is None or theirs is None:
        return "-"
    if unit == "%":
        return f"{ours - theirs:+.1f}"
    if unit == "count":
        return "equal" if ours == theirs else f"{ours - theirs:+,.0f}"
    return f"{(ours - theirs) / theirs * 100:+.1f} %" if theirs else "-"


class Table:
    """Prints each row as it comes. `differing` counts those that had to be equal and are not."""

    def __init__(self):
        self.differing = 0
        self.rows = 0
        self.lines = []  # of the same table in Markdown

    def title(self, text):
        print(f"\n{text}\n{'-' * len(text)}")
        print(f"  {'':<36} {'txtrace':>10} {'independent':>12} {'difference':>11}  independent source", flush=True)
        self.lines += ["", f"### {text}", "", "| | txtrace | independent | difference | independent source |", "|---|---|---|---|---|"]

    def _print(self, *cells):
        figure, ours, theirs, how, source = cells
        self.rows += 1
        self.lines.append("| " + " | ".join(cell.strip() for cell in cells) + " |")
        print(f"  {figure:<36} {ours:>10} {theirs:>12} {how:>11}  {source}".rstrip(), flush=True)

    def row(self, figure, ours, theirs, unit="count", source="", must_equal=False):
        """A figure by txtrace and by the source; None where there is none. Times are in ns."""
        how = difference(ours, theirs, unit)
        if must_equal and ours != theirs:
            how += " differs"
            self.differing += 1
        self._print(figure, text_of(ours, unit), text_of(theirs, unit), how, source)

    def at_most(self, figure, ours, bound, source):
        """A time that may not be larger than another one."""
        self.differing += ours > bound
        self._print(figure, text_of(ours, "ns"), text_of(bound, "ns"), "within" if ours <= bound else "differs", source)

    def holds(self, sentence, is_true, source):
        """Something that has to be so, and is no figure."""
        self.differing += not is_true
        self._print(sentence, "yes" if is_true else "no", "yes", "equal" if is_true else "differs", source)

    def note(self, text):
        for line in text.rstrip().splitlines():
            print(f"    {line}", flush=True)


def percentile(values, percent):
    """Of sorted values: the smallest that is not below so many percent of them, as `txtrace report` has it."""
    return values[max(-(-len(values) * percent // 100) - 1, 0)] if values else None


def quantiles(table, label, ours, theirs, source):
    """Rows for p50, p90, p99 and the largest of two lists of ns."""
    ours, theirs = sorted(ours), sorted(theirs)
    for percent in (50, 90, 99, 100):
        name = "max" if percent == 100 else f"p{percent}"
        table.row(f"{label}: {name}", percentile(ours, percent), percentile(theirs, percent), "ns", source)
