# SPDX-License-Identifier: BSD-2-Clause
"""txtrace top on a terminal of its own (tmux): keys, sizes, colours, letters instead of blocks.

top_terminal.py TXTRACE LOG FOLDER     prints the cases; the log is that of top_log.py
"""
import os
import subprocess
import sys
import time

TXTRACE, LOG, FOLDER = sys.argv[1:4]
WAIT_S = 60
number = 0


class Terminal:
    def __init__(self, name, columns, lines, environment, *arguments):
        self.socket = os.path.join(FOLDER, name)
        self.status = os.path.join(FOLDER, name + ".status")
        settings = " ".join(f"{key}={value}" for key, value in {"TERM": "screen-256color", "LC_ALL": "C.UTF-8", **environment}.items())
        command = f"stty -g >'{self.status}.before'; env -u NO_COLOR {settings} '{TXTRACE}' top {' '.join(arguments)} '{LOG}'; " \
                  f"echo $? >'{self.status}.new'; stty -g >'{self.status}.after'; mv '{self.status}.new' '{self.status}'; sleep 1000"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), command)

    def tmux(self, *arguments):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        return subprocess.run(["tmux", "-S", self.socket, *arguments], check=True, capture_output=True, text=True, encoding="utf-8", env=environment).stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def shows(self, *texts, lacks=()):
        """Waits until the screen has all of these and none of those."""
        end = time.monotonic() + WAIT_S
        while True:
            screen = self.screen()
            if all(text in screen for text in texts) and not any(text in screen for text in lacks):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"the screen lacks one of {texts} or has one of {lacks}:\n{screen}")
            time.sleep(0.05)

    def ends(self, status):
        end = time.monotonic() + WAIT_S
        while not os.path.exists(self.status):
            assert time.monotonic() < end, "it does not end:\n" + self.screen()
            time.sleep(0.05)
        got = open(self.status).read().strip()
        assert got == str(status), f"its status is {got}, not {status}:\n" + self.screen()
        assert open(self.status + ".before").read() == open(self.status + ".after").read(), "the terminal is not as it was"

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)


def check(name, *arguments):
    def run(case):
        global number
        number += 1
        terminal = Terminal(f"t{number}", *arguments)
        try:
            case(terminal)
            print(f"ok {number} - {name}")
        except AssertionError as problem:
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in str(problem).splitlines()[:40]))
        finally:
            terminal.close()
    return run


@check("80 columns and 24 lines have all columns, and q ends it", 80, 24, {})
def _(terminal):
    screen = terminal.shows("woken by", "ten", "holder", "lock 50%", "q quit", "oldest", "disk, for 1.00 s")
    assert all(len(line) <= 80 for line in screen.splitlines()), screen
    terminal.keys("q")
    terminal.ends(0)


@check("keys choose rows, window, order and filter", 80, 24, {})
def _(terminal):
    terminal.shows("the last 10 s by label, most time first", "2.00")
    terminal.keys("w")
    terminal.shows("the last 60 s", "0.33", "minute      0.10")
    terminal.keys("w")
    terminal.shows("the last 1 s", "4.00")
    terminal.keys("b")
    terminal.shows("by thread", "worker 11", "reader 31")
    terminal.keys("b")
    terminal.shows("by process")
    terminal.keys("b")
    terminal.shows("by tag", "shard=1")
    terminal.keys("b", "s")
    terminal.shows("by label, highest rate first")
    terminal.keys("/")
    terminal.shows("pattern:")
    terminal.keys("xy", "BSpace", "BSpace", "[nt]*")
    terminal.shows("pattern: [nt]*_")
    terminal.keys("Enter")
    terminal.shows("only [nt]*", "now", "ten", lacks=["minute", "cut "])
    terminal.keys("/")
    terminal.shows("pattern:")
    terminal.keys("xyz", "Escape")
    terminal.shows("only [nt]*", lacks=["pattern:"])
    terminal.keys("/")
    terminal.shows("pattern:")
    terminal.keys("Enter")
    terminal.shows("minute", lacks=["only"])
    terminal.keys("q")
    terminal.ends(0)


@check("a row's slowest span is shown, and the keys are", 100, 30, {})
def _(terminal):
    terminal.shows("ten ")
    terminal.keys("Down", "Enter")
    terminal.shows("ten  20.0 ms, id 219 of process 10", "lock 50.0 %", "q back")
    terminal.keys("q")
    terminal.shows("q quit", "the last 10 s")
    terminal.keys("?")
    terminal.shows("Keys", "the slowest span of that row", "Columns")
    terminal.keys("Escape")
    terminal.shows("the last 10 s")
    terminal.keys("q")
    terminal.ends(0)


@check("it follows the size of the terminal", 100, 30, {})
def _(terminal):
    terminal.shows("woken by", lacks=["p99 1 s"])
    terminal.tmux("resize-window", "-x", "140", "-y", "20")
    terminal.shows("p99 1 s", "60 s")
    terminal.tmux("resize-window", "-x", "60", "-y", "10")
    terminal.shows("q quit", "ten", lacks=["p99 1 s"])
    terminal.tmux("resize-window", "-x", "80", "-y", "24")
    terminal.shows("woken by", "oldest")
    terminal.keys("q")
    terminal.ends(0)


@check("without UTF-8 letters stand for the parts of a bar", 80, 24, {"LC_ALL": "C"})
def _(terminal):
    screen = terminal.shows("####----", "ten")
    assert screen.isascii(), screen
    terminal.keys("q")
    terminal.ends(0)


@check("colours are there", 80, 24, {})
def _(terminal):
    terminal.shows("ten")
    screen = terminal.screen("-e")
    assert "\033[32m" in screen and "\033[31m" in screen, repr(screen)
    terminal.keys("q")
    terminal.ends(0)


@check("with NO_COLOR they are not", 80, 24, {"NO_COLOR": "1"})
def _(terminal):
    terminal.shows("ten")
    screen = terminal.screen("-e")
    assert "\033[32m" not in screen and "\033[31m" not in screen, repr(screen)
    terminal.keys("q")
    terminal.ends(0)


@check("a terminal that ncurses does not know is told", 80, 24, {"TERM": "no-such-terminal"})
def _(terminal):
    terminal.ends(2)
    terminal.shows("ncurses does not know the terminal 'no-such-terminal'")


def stop(terminal):
    pane = terminal.tmux("list-panes", "-F", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-TERM", "-P", pane, "txtrace"], check=True)
    terminal.ends(0)


@check("SIGTERM ends it, and the terminal is as it was", 80, 24, {})
def _(terminal):
    terminal.shows("ten")
    stop(terminal)


@check("also while the keys are shown, or a pattern is typed", 80, 24, {})
def _(terminal):
    terminal.shows("ten")
    terminal.keys("?")
    terminal.shows("Columns")
    terminal.keys("q", "/")
    terminal.shows("pattern:")
    stop(terminal)


@check("Ctrl-C ends it while the keys are shown", 80, 24, {})
def _(terminal):
    terminal.shows("ten")
    terminal.keys("?")
    terminal.shows("Columns")
    terminal.keys("C-c")
    terminal.ends(0)


print(f"1..{number}")
