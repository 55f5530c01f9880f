"""A client of a lock in the layout of another library, sending exactly the commands that library sends.

    peer.py LAYOUT HOST PORT NAME SECONDS

It takes the lock again and again, notes in the key room:NAME that it is inside, and prints how often it was, or what it
saw there that must not be.
"""

import os
import random
import sys
import time
import uuid
from base64 import b64encode

import redis

layout, host, port, name, seconds = sys.argv[1:]
server = redis.Redis(host=host, port=int(port))
deadline = time.monotonic() + float(seconds)
LEASE = 5  # seconds


def signal_list():
    """python-redis-lock: a string with the owner, a list that wakes those who wait."""
    unlock = server.register_script(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 1 end "
        "redis.call('DEL', KEYS[2]) redis.call('LPUSH', KEYS[2], 1) redis.call('PEXPIRE', KEYS[2], ARGV[2]) "
        "redis.call('DEL', KEYS[1]) return 0"
    )
    lock, signal = "lock:" + name, "lock-signal:" + name
    me = b64encode(os.urandom(18))
    while not server.set(lock, me, nx=True, ex=LEASE):
        if time.monotonic() > deadline:
            return None
        server.blpop(signal, timeout=1)
    return lambda: unlock(keys=[lock, signal], args=[me, 1000]) == 0


CLIENT = str(uuid.uuid4())


def hash_and_channel():
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
        return unlock(keys=[name, channel], args=[me, LEASE * 1000]) == 1

    if acquire(keys=[name], args=[LEASE * 1000, me]) is None:
        return release
    heard = server.pubsub(ignore_subscribe_messages=True)
    heard.subscribe(channel)
    try:
        while True:
            left = acquire(keys=[name], args=[LEASE * 1000, me])
            if left is None:
                return release
            if time.monotonic() > deadline:
                return None
            heard.get_message(timeout=min(left / 1000, 1))
    finally:
        heard.close()


take = {"python-redis-lock": signal_list, "redisson": hash_and_channel}[layout]
visits = 0
while time.monotonic() < deadline:
    release = take()
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
