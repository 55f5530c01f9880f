"""A client of a lock in the layout of another library, sending exactly the commands that library sends.

    peer.py LAYOUT HOST PORT NAME SECONDS

It takes the lock again and again, notes in the key room:NAME that it is inside, and prints how often it was, or what it
saw there that must not be.

    peer.py LAYOUT serve HOST:PORT MILLISECONDS

It takes and releases the locks that its input says, as systemtest/foreign describes it, each with this TTL.
"""

import os
import queue
import random
import sys
import threading
import time
import uuid
from base64 import b64encode

import redis

layout = sys.argv[1]
if sys.argv[2] == "serve":
    host, port = sys.argv[3].split(":")
    LEASE = int(sys.argv[4])  # milliseconds
else:
    host, port = sys.argv[2:4]
    LEASE = 5000
server = redis.Redis(host=host, port=int(port))


def signal_list(name, deadline):
    """python-redis-lock: a string with the owner, a list that wakes those who wait."""
    unlock = server.register_script(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 1 end "
        "redis.call('DEL', KEYS[2]) redis.call('LPUSH', KEYS[2], 1) redis.call('PEXPIRE', KEYS[2], ARGV[2]) "
        "redis.call('DEL', KEYS[1]) return 0"
    )
    lock, signal = "lock:" + name, "lock-signal:" + name
    me = b64encode(os.urandom(18))
    while not server.set(lock, me, nx=True, px=LEASE):
        if time.monotonic() > deadline:
            return None
        server.blpop(signal, timeout=1)
    return lambda: unlock(keys=[lock, signal], args=[me, 1000]) == 0


CLIENT = str(uuid.uuid4())


def hash_and_channel(name, deadline):
    """Redisson's RLock: a hash from owner to count, a channel that wakes those who wait."""
    acquire = server.register_script(
        "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then "
        "redis.call('HINCRBY', KEYS[1], ARGV[2], 1) redis.call('PEXPIRE', KEYS[1], ARGV[1]) return nil end "
        "return redis.call('PTTL', KEYS[1])"
    )
    unlock = server.register_script(
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end "
        "if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 0 end "
        "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', KEYS[2], '0') return 1"
    )
    channel = "redisson_lock__channel:{" + name + "}"
    me = CLIENT + ":1"

    def release():
        return unlock(keys=[name, channel], args=[me, LEASE]) == 1

    if acquire(keys=[name], args=[LEASE, me]) is None:
        return release
    heard = server.pubsub(ignore_subscribe_messages=True)
    heard.subscribe(channel)
    try:
        while True:
            left = acquire(keys=[name], args=[LEASE, me])
            if left is None:
                return release
            if time.monotonic() > deadline:
                return None
            heard.get_message(timeout=min(left / 1000, 1))
    finally:
        heard.close()


take = {"python-redis-lock": signal_list, "redisson": hash_and_channel}[layout]


def visit(name, seconds):
    deadline, visits = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        release = take(name, deadline)
        if release is None:
            break
        others = server.incr("room:" + name) - 1
        time.sleep(random.uniform(0.001, 0.003))
        server.decr("room:" + name)
        if others:
            sys.exit("%d others were inside" % others)
        if not release():
            sys.exit("the lock was not ours to the end")
        visits += 1
    print(visits)


def listen(orders):
    for line in sys.stdin:
        orders.put(line.split())
    os._exit(0)


def serve():
    orders, release = queue.Queue(), None
    threading.Thread(target=listen, args=(orders,), daemon=True).start()
    while True:
        order = orders.get()
        try:
            if order[0] == "lock":
                release = take(order[1], time.monotonic() + int(order[2]) / 1000)
                answer = "got" if release else "taken"
            else:
                answer = "released" if release() else "error the lock was not ours to the end"
        except redis.RedisError as e:
            answer = "error " + " ".join(repr(e).split())
        print(answer, flush=True)


if sys.argv[2] == "serve":
    serve()
else:
    visit(sys.argv[4], float(sys.argv[5]))
