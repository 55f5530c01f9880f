-- Queues a claim, or renews it.
-- ARGV     1 ID  2 the token it has; before it has one, 'h' if it would have the lock alone, else 's'
--          3 TTL in ms  4 ABOUT  5 keep, where that is longer than KEEP
-- Returns  'MARK TOKEN RETRY CONTENDED', MARK being g (granted), v (granted and revoked) or w (waiting), RETRY in ms;
--          or 'gone'.
local call = redis.call
local id, token, keep = ARGV[1], ARGV[2], ARGV[5]
local first = token == 'h' or token == 's'
local state = call('HGET', KEYS[2], '~')
local clock = call('TIME')
local micros = clock[1] .. (#clock[2] == 6 and clock[2] or string.sub('00000' .. clock[2], -6)) -- as text: numbers print slowly

-- Nobody else is there: the whole queue is one field. What that says of the claim before may be forgotten if it was one
-- of the same series.
if first and not keep then
  local free, refresh = not state, ''
  if state and string.sub(state, 1, #'FORMAT' + 3) == 'FORMAT i ' and string.sub(state, #'FORMAT' + 4, #'FORMAT' + 19) < micros then
    local before = string.sub(state, #'FORMAT' + 52, #'FORMAT' + 52 + #id)
    refresh = string.sub(state, #'FORMAT' + 21, #'FORMAT' + 36)
    free = before < id and string.sub(before, 1, -10) == string.sub(id, 1, -9) and string.find(before, '^_%d%d%d%d%d%d%d%d $', -10)
    if not free then
      --include ended.lua
      local last, other, ttl = string.match(state, '^%d+ i (%d+) %d+ %d+ (%S+) %d+ %d+ (%d+)')
      if other then bury(other, 'r', last, ttl, string.sub(micros, 1, -4) + 0) end
      free = not ended(id)
    end
  end
  if free and call('SET', KEYS[1], token == 'h' and id or '~shared', 'NX', 'PX', ARGV[3]) then
    local due = refresh <= micros
    if due then refresh = string.format('%016.0f', micros + KEEP * 500) end
    call('HSET', KEYS[2], '~', 'FORMAT ' .. token .. ' ' .. micros .. ' ' .. refresh .. ' 0000000000000 ' .. id .. ' ' .. ARGV[4])
    if due then call('PEXPIRE', KEYS[2], KEEP) end
    return 'g ' .. micros .. ' 0 0'
  end
end

-- It is the only one, and is renewed.
if not first and state and not keep then
  local kind, has, refresh, holder, units, channel = string.match(state, '^FORMAT ([hs]) (%d+) (%d+) %S+ (%S+) (%d+ %d+) %d+ (%S+)')
  local same, address = string.match(ARGV[4], '^(%d+ %d+) %d+ (%S+)')
  if holder == id and has == token and micros < refresh and units == same and (channel == address or channel == '-')
    and call('GET', KEYS[1]) == (kind == 'h' and id or '~shared') then
    call('PEXPIRE', KEYS[1], ARGV[3])
    call('HSET', KEYS[2], '~', 'FORMAT ' .. kind .. ' ' .. has .. ' ' .. refresh .. ' ' .. string.sub(micros, 1, -4) .. ' ' .. id .. ' ' .. ARGV[4])
    return 'g ' .. has .. ' 0 0'
  end
end

-- It would not wait, and one claim has the lock to itself: the answer changes nothing.
if first and state and string.match(ARGV[4], '^%d+ %d+ %d+ %S+ (%d)') % 2 == 0 then
  --include ended.lua
  local holder = string.match(state, '^FORMAT h %d+ %d+ %S+ (%S+)')
  if holder and place(holder) ~= place(id) and not ended(id) and call('GET', KEYS[1]) == holder then
    return 'w 0 ' .. call('PTTL', KEYS[1]) .. ' 0'
  end
end

--include claims.lua

load()
settle()
local c, mark = find(id)
if not c and (mark or not first) or c and not first and token ~= c.token then
  save()
  return 'gone'
end

local asked = {}
asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest = string.match(ARGV[4], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0
local waits = string.sub(asked.rest, 1, 1) % 2 == 1

if c then
  c.ttl, c.rest, c.deadline = asked.ttl, asked.rest, now + asked.ttl
  if c.channel == '-' then c.channel = asked.channel end -- else who queued it is told
  write(id, c)
  if c.mark ~= 'w' then
    q.till = q.held == SHARED and math.max(q.till, c.deadline) or c.deadline
    q.taken = true
  end
elseif waits or q.granted == q.count and fits(asked) then
  add(id, asked, next_token())
  grant(id)
  c = find(id)
else
  local retry = q.granted == q.count and blocked() or 0
  save()
  return 'w 0 ' .. retry .. ' 0'
end
take()
save()
return answer(id, c)
