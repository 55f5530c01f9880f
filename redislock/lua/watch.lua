-- Has a channel told, once, when the queue changes.
-- ARGV     1 channel  2 for how long, in ms
-- Returns  'ok'.
local call = redis.call
local state = call('HGET', KEYS[2], '~')

local clock, keep
--include whole.lua

return whole(function()
  --include claims.lua
  load()
  settle()
  for channel, till in pairs(q.watchers) do
    if till < now then q.watchers[channel] = nil end
  end
  if q.changed then notify() end
  q.changed = false
  q.watchers[ARGV[1]] = now + ARGV[2]
  save()
  return 'ok'
end)
