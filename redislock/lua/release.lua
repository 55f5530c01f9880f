-- Takes a claim out of the queue and grants what that makes grantable.
-- ARGV     1 ID  2 token, or 0 for any  3 with 0, the TTL in ms  4 keep, where that is longer than KEEP
-- Returns  'ok', also when it was released before, or 'gone', or 'unknown' where there is no such claim and it
--          may have been a lone one that was released, never with token 0; with ' more' behind it where claims that may
--          be granted now are not granted yet: the caller repeats the script
local call = redis.call
local id, token = ARGV[1], ARGV[2]
--include lone.lua
--include release_alone.lua
local released, state, value = release_alone(KEYS[1], KEYS[2], id, token)
if released then return 'ok' end

-- unrecorded is what is said of a claim of which nothing is left: it was no lone one if its token is not among those
-- that the server has kept the greatest of.
local function unrecorded()
  local first = LAST_TOKEN and redis.pcall('GET', FIRST_TOKEN)
  return type(first) == 'string' and first <= token and 'unknown' or 'gone'
end

if not state and token ~= '0' then return unrecorded() end

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
  elseif not c and mark == 'r' and (token == '0' or token == had) then
    result = 'ok'
  elseif not c and not mark and token == '0' then
    bury(id, 'e', 0, ARGV[3], now)
  elseif not c and token ~= '0' and (not mark or had == '0') then
    result = unrecorded()
  end
  save()
  return result .. more()
end)
