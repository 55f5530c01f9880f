-- Takes a claim out of the queue and grants what that makes grantable.
-- ARGV     1 ID  2 token, or 0 for any  3 TTL in ms
-- Returns  'ok', also when it was released before, or 'gone'.
local call = redis.call
local id, token = ARGV[1], ARGV[2]
local state = call('HGET', KEYS[2], '~')

-- It is the only one: nobody is next. KEY still has its value, so it has not expired, and no clock is needed.
if state then
  local kind, has, refresh, renewed, holder, ttl = string.match(state, '^FORMAT ([hs]) (%d+) (%d+) (%S+) (%S+) %d+ %d+ (%d+)')
  if holder == id and (token == has or token == '0') and call('GET', KEYS[1]) == (kind == 'h' and id or '~shared') then
    if renewed == '-' then renewed = string.sub(has, 1, -4) end
    call('DEL', KEYS[1])
    call('HSET', KEYS[2], '~', 'FORMAT i ' .. has .. ' ' .. refresh, id, 'FORMAT r ' .. renewed .. ' ' .. ttl .. ' ' .. has)
    if has % 16 == 0 then
      --include sweep.lua
      sweep(has, renewed, ttl)
    end
    return 'ok'
  end
end

local clock, keep
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
  bury(id, 'e', 0, ARGV[3])
end
save()
return result
