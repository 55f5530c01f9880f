"""A process that locks with kazoo. It says "ready", waits for a line, and then does what its third argument says:

visit   enter the section under the lock, again and again, until its input ends
both    the same under a lock that respects Curator's too
share   the same under the read and the write lock, reading more often than writing
hold    take the lock, say "held", wait for a line, release it
read, write   the same with a read or a write lock

Arguments: the server, the path of the lock, what to do, the section's folder, the name of this process.
"""

import os
import sys
import threading
import time

from kazoo.client import KazooClient


class Section:
    """The section, as the Go tests describe it."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def visit(self, writes):
        mark = self.name + (".writes" if writes else ".reads")
        os.close(os.open(os.path.join(self.folder, mark), os.O_CREAT | os.O_EXCL))
        other = self.other(mark, writes)
        if writes:
            self.count()
        else:
            time.sleep(0.001)
        other = other or self.other(mark, writes)
        os.remove(os.path.join(self.folder, mark))
        say(("wrote" if writes else "read") + (" beside " + other if other else ""))

    def count(self):
        file = os.path.join(self.folder, "count")
        with open(file) as f:
            n = int(f.read() or 0)
        time.sleep(0.001)
        with open(file, "w") as f:
            f.write(str(n + 1))

    def other(self, mark, writes):
        for f in os.listdir(self.folder):
            if f != mark and (f.endswith(".writes") or writes and f.endswith(".reads")):
                return f
        return ""


def say(line):
    print(line, flush=True)


def visit(section, write, read):
    """Enter the section until the input ends: every third time under the first lock, otherwise under the second."""
    over = threading.Event()

    def listen():
        while sys.stdin.readline():
            pass
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    i = 0
    while not over.is_set():
        writes = write is read or i % 3 == 0
        with write if writes else read:
            section.visit(writes)
        i += 1


def hold(lock):
    with lock:
        say("held")
        sys.stdin.readline()
    say("released")


def main(server, path, what, folder, name):
    client = KazooClient(server, timeout=20)
    client.start()
    say("ready")
    sys.stdin.readline()
    section = Section(folder, name)
    if what in ("visit", "both"):
        patterns = ("-lock-",) if what == "both" else ()
        lock = client.Lock(path, extra_lock_patterns=patterns)
        visit(section, lock, lock)
    elif what == "share":
        visit(section, client.WriteLock(path), client.ReadLock(path))
    elif what in ("hold", "write", "read"):
        make = {"hold": client.Lock, "write": client.WriteLock, "read": client.ReadLock}[what]
        hold(make(path))
    else:
        raise ValueError(what)
    client.stop()


main(*sys.argv[1:])
