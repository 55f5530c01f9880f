-- Sets the value that a lock keeps between its holders.
-- KEYS     5 the value: 'FORMAT TOKEN SET TEXT', of which TOKEN and SET always have the same number of digits
-- ARGV     1 ID  2 token of the claim  3 TOKEN  4 SET  5 TEXT  6 for how many ms a removal is remembered
-- Returns  'ok', 'gone' when no such claim is granted, or 'old' when the value was set after this one already
local call = redis.call
local id, token, text = ARGV[1], ARGV[2], ARGV[5]
local state = call('HGET', KEYS[2], '~')

local function set()
  local order = ARGV[3] .. ' ' .. ARGV[4] -- texts of one length are in the order of their numbers
  local format, before = string.match(call('GET', KEYS[5]) or '', '^(%d+) (%d+ %d+) ')
  if format and format ~= 'FORMAT' then return redis.error_reply('HOLDFASTVERSION ' .. format) end
  if before and before > order then return 'old' end -- one that is the same is written again, for replicas to confirm
  local value = 'FORMAT ' .. order .. ' ' .. text
  if text == '' then
    call('SET', KEYS[5], value, 'PX', ARGV[6]) -- until no copy of an earlier request is under way any more
  else
    call('SET', KEYS[5], value)
  end
  return 'ok'
end

-- Mostly KEY or the state says who has the lock.
--include lone.lua
if not state and is_lone(call('GET', KEYS[1]), id, token) then return set() end
if state and string.sub(state, 1, TOKEN_END) == 'FORMAT h ' .. token
  and string.sub(state, ID_AT, ID_AT + #id) == id .. ' ' and call('GET', KEYS[1]) == id then
  return set()
end

local clock, keep, value
--include whole.lua

if not state then return 'gone' end
return whole(function()
  --include claims.lua
  load()
  settle()
  local c = find(id)
  local granted = c and c.mark ~= 'w' and c.token == token
  save()
  return granted and set() or 'gone'
end)
