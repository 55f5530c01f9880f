-- Wakes another one in the place of a claim that took a signal and does not wait any more.
-- KEYS     as in foreign_request.lua
-- Returns  {'ok'}
local call = redis.call

--layout

leave()
return {'ok'}
