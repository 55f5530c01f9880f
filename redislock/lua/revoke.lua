-- Asks the holder of a claim to let go.
-- ARGV     1 ID
-- Returns  'ok', or 'gone' when there is no such granted claim.
local call = redis.call
local state = call('HGET', KEYS[2], '~')

local clock, keep, value
--include whole.lua

if not state then return 'gone' end
return whole(function()
  --include claims.lua
  load()
  settle()
  local c = find(ARGV[1])
  local granted = c and c.mark ~= 'w'
  if granted then
    c.mark = 'v'
    write(ARGV[1], c)
    tell(c, 'v ' .. ARGV[1] .. ' ' .. c.token .. ' ' .. c.ttl .. ' ' .. (q.count > q.granted and 1 or 0))
  end
  save()
  return granted and 'ok' or 'gone'
end)
