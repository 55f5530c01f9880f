-- Lists the live claims of a lock, oldest first, a page in one call.
-- ARGV     1 where to go on, '-inf' at first  2 how many claims to look at
-- Returns  NOW in ms, the value of KEY when it is another client's or '', its remaining ms or 0, where to go on or ''
--          at the end, then for each claim its ID and its record
local call = redis.call
local state = call('HGET', KEYS[2], '~')
local clock, keep, value = call('TIME'), nil, call('GET', KEYS[1])
local now = string.format('%016.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))

-- A lone claim, see lone.lua: looking changes nothing.
local token, id, about = string.match(not state and value or '', '^FORMAT [hs] (%d+) (%S+) (.*)$')
if id and #token == 16 then
  local left, ttl = call('PTTL', KEYS[1]), string.match(about, '^%d+ %d+ (%d+) ')
  if ttl and left >= 0 and left <= ttl + 0 then -- else the clock was set back, or the key has no end
    local since, deadline = string.sub(token, 1, MS_END), string.format('%.0f', now + left)
    return {now, '', '0', '', id, 'FORMAT g ' .. token .. ' ' .. deadline .. ' ' .. since .. ' ' .. about}
  end
end

--include whole.lua

return whole(function()
  --include claims.lua

  local function left() return digits(math.max(call('PTTL', KEY), 0)) end

  -- look returns what there is to see when there is no claim, or a single one: looking changes nothing then.
  local function look()
    if not state then return nil end
    check_format(state)
    if match(state, '^%d+ i') then return {digits(now), value or '', value and left() or '0', ''} end
    local kind, token, renewed, id, rest = match(state, '^%d+ ([hs]) (%d+) %d+ (%S+) (%S+) (.*)$')
    if not kind or value ~= (kind == 'h' and id or SHARED) then return nil end
    local since, ttl, about = string.sub(token, 1, MS_END), match(rest, '^%d+ %d+ (%d+) %S+ (.*)$')
    if not is_complete(about) then return nil end
    local deadline = within((renewed + 0 == 0 and since or renewed) + ttl, ttl)
    return {digits(now), '', '0', '', id, 'FORMAT g ' .. token .. ' ' .. deadline .. ' ' .. since .. ' ' .. rest}
  end

  local seen = look()
  if seen then return seen end
  load()
  settle()
  if state then save() end
  local from, most = ARGV[1], ARGV[2] + 0
  local page = call('ZRANGEBYSCORE', ORDER, from, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  local out = {digits(now), foreign or '', foreign and left() or '0', ''}
  if most > 0 and #page == 2 * most then out[4] = '(' .. page[#page] end
  for i = 1, #page, 2 do
    if member(page[i]).deadline >= now then
      out[#out + 1] = page[i]
      out[#out + 1] = call('HGET', CLAIMS, page[i])
    end
  end
  return out
end)
