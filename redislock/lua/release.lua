-- Takes a claim out of the queue and grants what that makes grantable.
-- ARGV     1 ID  2 token, or 0 for any  3 with 0, the TTL in ms  4 keep, where that is longer than KEEP
-- Returns  'ok', also when it was released before, or 'gone'; with ' more' behind it where claims that may be granted
--          now are not granted yet: the caller repeats the script
local call = redis.call
local id, token = ARGV[1], ARGV[2]
local state = call('HGET', KEYS[2], '~')
--include release_alone.lua
if release_alone(KEYS[1], KEYS[2], state, id, token) then return 'ok' end

local clock, keep = nil, ARGV[4]
--include whole.lua

return whole(function()
  --include claims.lua
  load()
  settle()
  local c, mark, had = find(id)
  local result = 'gone'
  if c and (token == '0' or token == c.token) then
    drop(id, c, 'r')
    grant()
    take()
    result = 'ok'
  elseif mark == 'r' and (token == '0' or token == had) then
    result = 'ok'
  elseif not c and not mark and token == '0' then
    bury(id, 'e', 0, ARGV[3], now)
  end
  save()
  return result .. more()
end)
