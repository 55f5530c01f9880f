"""A program that locks with kazoo, as package foreign describes it. Arguments: the servers, the TTL in milliseconds."""

import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout


def listen(orders):
    for line in sys.stdin:
        orders.put(line.split())
    os._exit(0)


def take(client, name, seconds):
    """Return the lock, or None if it was not to be had and nothing is left of the attempt."""
    lock = client.Lock("/" + name)
    try:
        if lock.acquire(timeout=seconds):
            return lock
    except LockTimeout:
        pass
    if any(child.startswith(lock.prefix) for child in client.get_children("/" + name)):
        raise RuntimeError("it has left its node behind")
    return None


def main(servers, ttl):
    orders, client, lock = queue.Queue(), None, None
    threading.Thread(target=listen, args=(orders,), daemon=True).start()
    while True:
        order = orders.get()
        try:
            if client is None:
                client = KazooClient(servers, timeout=int(ttl) / 1000)
                client.start(timeout=int(ttl) / 1000)
            if order[0] == "lock":
                lock = take(client, order[1], int(order[2]) / 1000)
                answer = "got" if lock else "taken"
            else:
                answer = "released" if lock.release() else "error it was not held"
        except Exception as e:
            answer = "error " + " ".join(repr(e).split())
        print(answer, flush=True)


main(*sys.argv[1:])
