-- Lists the live claims of a lock, oldest first.
-- Returns  NOW in ms, the value of KEY when it is another client's or '', its remaining ms or 0, then for each claim its
--          ID and its record.
local call = redis.call
local state = call('HGET', KEYS[2], '~')

local clock, keep
--include claims.lua

-- No claim, or a single one, is shown as it is: looking changes nothing.
if state then
  check_format(state)
  if match(state, '^%d+ i') then return {digits(now), value or '', value and digits(math.max(call('PTTL', KEY), 0)) or '0'} end
  local kind, token, renewed, id, rest = match(state, '^%d+ ([hs]) (%d+) %d+ (%S+) (%S+) (.*)$')
  if kind and value == (kind == 'h' and id or SHARED) then
    local since = string.sub(token, 1, -4)
    local deadline = (renewed + 0 == 0 and since or renewed) + match(rest, '^%d+ %d+ (%d+)')
    return {digits(now), '', '0', id, 'FORMAT g ' .. token .. ' ' .. deadline .. ' ' .. since .. ' ' .. rest}
  end
end

load()
settle()
if state then save() end
local out = {digits(now), foreign or '', foreign and digits(math.max(call('PTTL', KEY), 0)) or '0'}
local ids = call('ZRANGE', ORDER, 0, -1)
for _, id in ipairs(ids) do
  out[#out + 1] = id
  out[#out + 1] = call('HGET', CLAIMS, id)
end
return out
