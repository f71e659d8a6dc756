# SPDX-License-Identifier: BSD-2-Clause
"""A log for tests/cli/top.sh, whose figures are known: text for make_log, of 70 s.

Spans that end in each of the three windows, which end at 70 s (1 s from 69 s on, 10 s from 60 s on, 60 s from 10 s on):
    now     4 spans in 69.0 to 69.4 s, of 1, 2, 3 and 4 ms
    ten     20 spans in 61 to 63 s, of 1 to 20 ms, half of it on-CPU and half waiting for a lock, tag shard=1
    minute  6 spans in 30 s, of 5 ms
    old     1 span in 9 s: in no window
    cut     a span in 69 s that is a lower bound
The lock of the first ten spans is given back by thread 21 ("giver") in a span "holder" (8 times) and in none (twice).
Open at the end: "oldest" since 10 s, whose thread 31 waits for the disk since 68.5 s; "awake" since 20 s, whose thread was woken; "strange" since 30 s.
"""
MS, SECOND = 1_000_000, 1_000_000_000


def record(kind, time, text):
    return time, f"{kind} {text}"


def span(records, label, number, end, wall, lock=0, tid=11, extra=""):
    records.append(record("span", end, f'begin_ns={end - wall} end_ns={end} pid=10 tid={tid} end_tid={tid} id={number} label="{label}" work_ns={wall} '
                          f"on_cpu_ns={wall - lock} lock_ns={lock} {extra}"))


def main():
    records = []
    for tid, name in (11, "worker"), (21, "giver"), (31, "reader"), (32, "runner"), (33, "stranger"):
        records.append(record("thread", 0, f'time_ns=0 pid=10 tid={tid} comm="{name}" seed=1'))
    span(records, "old", 1, 9 * SECOND, 5 * MS)
    for i in range(6):
        span(records, "minute", 100 + i, 30 * SECOND + i * 10 * MS, 5 * MS)
    for i in range(20):
        end, wall = 61 * SECOND + i * 100 * MS, (i + 1) * MS
        if i < 10:
            woken = end - wall // 4
            holder = 300 + i if i < 8 else 0
            records.append(record("wake", woken, f'time_ns={woken} tid=11 pid=10 waker_tid=21 waker_pid=10 cpu=0 waker_comm="giver" span={200 + i} waker_span={holder}'))
            records.append(record("run", woken + 10, f"begin_ns={woken} end_ns={woken + 10} tid=11 pid=10 cpu=0 blocked_ns={wall // 2} left_as=preempted"))
            if holder:
                span(records, "holder", holder, woken + 20, 100, tid=21)
        span(records, "ten", 200 + i, end, wall, lock=wall // 2, extra='tag="shard=1"')
    for i in range(4):
        span(records, "now", 400 + i, 69 * SECOND + i * 100 * MS, (i + 1) * MS)
    span(records, "cut", 500, 69 * SECOND + 500 * MS, 100 * MS, extra="flags=lower_bound")
    for number, (label, tid, begin) in enumerate((("oldest", 31, 10), ("awake", 32, 20), ("strange", 33, 30))):
        records.append(record("open_span", 69 * SECOND, f'time_ns={69 * SECOND} begin_ns={begin * SECOND} id={600 + number} pid=10 tid={tid} label="{label}"'))
    for tid in 31, 32:
        left = 68 * SECOND + 500 * MS
        records.append(record("run", left, f"begin_ns={left - 10} end_ns={left} tid={tid} pid=10 cpu=0 left_as=blocked reason=disk"))
    records.append(record("wake", 69 * SECOND, f'time_ns={69 * SECOND} tid=32 pid=10 waker_tid=21 waker_pid=10 cpu=0 waker_comm="giver"'))
    records.append(record("loss", 69 * SECOND, f"first_ns={68 * SECOND} last_ns={69 * SECOND} cpu=0 span_event_cnt=3 sched_event_cnt=4"))
    records.append(record("counter", 69 * SECOND + 500 * MS, f'time_ns={69 * SECOND + 500 * MS} pid=10 tid=11 name="c" value=1'))
    print('header pid=10 cpus=1 command="shop" start_monotonic_ns=0 start_realtime_ns=1763725200000000000')
    for _, text in sorted(records, key=lambda pair: pair[0]):
        print(text)
    print(f"summary time_ns={69 * SECOND + 500 * MS} sent_cnt=1 received_cnt=1")


main()
