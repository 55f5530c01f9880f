-- Reads the value that a lock keeps. It is a script so that no client reads it from a replica, which may lag behind.
-- KEYS     1 the value
-- Returns  the record, see set_value.lua, or ''
return redis.call('GET', KEYS[1]) or ''
