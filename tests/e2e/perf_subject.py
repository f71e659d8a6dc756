# SPDX-License-Identifier: BSD-2-Clause
"""
What is recorded by perf_texts.sh.

perf_subject.py crowd     threads that wait for each other, for time, and for a CPU
perf_subject.py around    threads that sleep again and again, and a process for each CPU that never does, until it is ended; prints a line when all are there
perf_subject.py one       one thread sleeps and computes 200 times; prints its tid, and its CPU time by its own clock
"""
import os
import queue
import sys
import threading
import time


def crowd():
    numbers = queue.Queue()

    def work():
        for _ in range(50):
            numbers.get()
            time.sleep(0.001)
            sum(range(20000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(200):
        numbers.put(i)
        time.sleep(0.0005)
    for thread in threads:
        thread.join()


def around():
    def work():
        while True:
            time.sleep(0.05)

    parent = os.getpid()
    for _ in os.sched_getaffinity(0):
        if os.fork() == 0:
            while os.getppid() == parent:
                pass
            os._exit(0)
    for _ in range(40):
        threading.Thread(target=work, daemon=True).start()
    print("ready", flush=True)
    time.sleep(3600)


def one():
    told = []

    def work():
        for _ in range(200):
            time.sleep(0.0005)
            sum(range(20000))
        told.extend([threading.get_native_id(), time.thread_time_ns()])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(*told)


{"crowd": crowd, "around": around, "one": one}[sys.argv[1]]()
