-- Has a channel told, once, when the queue changes.
-- ARGV     1 channel  2 for how long, in ms
-- Returns  'ok'.
local call = redis.call
local state = call('HGET', KEYS[2], '~')

local clock, keep, value
--include whole.lua

return whole(function()
  --include claims.lua
  load()
  settle()
  local longest = now + ARGV[2] -- one that lives for longer was stored before the clock was set back
  for channel, till in pairs(q.watchers) do
    q.watchers[channel] = till >= now and math.min(till, longest) or nil
  end
  if q.changed then notify() end
  q.changed = false
  q.watchers[ARGV[1]] = longest
  save()
  return 'ok'
end)
