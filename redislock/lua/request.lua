-- Queues a claim, or renews it.
-- ARGV     1 ID  2 token it has, or 0  3 TTL in ms  4 ABOUT  5 value for KEY: the ID, or '~shared'  6 state: 'h' or 's'
--          7 '1' to stay in the queue when not granted  8 keep
-- Returns  'MARK TOKEN RETRY CONTENDED', MARK being g (granted), v (granted and revoked) or w (waiting), RETRY in ms;
--          or 'gone'.
local call = redis.call
local id, token, keep = ARGV[1], ARGV[2], ARGV[8] + 0
local clock = call('TIME')
local got = call('HMGET', KEYS[2], '~', id)
local state, ended = got[1], got[2]

-- Nobody else is there: the whole queue is one field. TIME is put together as text, since numbers print slowly.
local last, expires = '0', '0'
if state then last, expires = string.match(state, '^FORMAT i (%d+) (%d+)$') end
local micros = clock[1] .. string.sub('00000' .. clock[2], -6)
if last and not ended and token == '0' and #last <= #micros and (#last < #micros or last < micros) then
  local now = string.sub(micros, 1, -4)
  local deadline = now + ARGV[3]
  if call('SET', KEYS[1], ARGV[5], 'NX', 'PXAT', deadline) then
    local short = expires - now < keep / 2
    if short then expires = now + keep end
    call('HSET', KEYS[2], '~', 'FORMAT ' .. ARGV[6] .. ' ' .. micros .. ' ' .. expires .. ' ' .. deadline .. ' ' .. now .. ' ' .. id .. ' ' .. ARGV[4])
    if short then call('PEXPIREAT', KEYS[2], expires) end
    return 'g ' .. micros .. ' 0 0'
  end
end

-- It is the only one, and is renewed.
if state and token ~= '0' then
  local kind, has, ends, deadline, since, holder, limits = string.match(state, '^FORMAT ([hs]) (%d+) (%d+) (%d+) (%d+) (%S+) (%d+ %d+ )')
  local now = string.sub(micros, 1, -4)
  if holder == id and has == token and deadline >= now and ends - now >= keep / 2
    and string.sub(ARGV[4], 1, #limits) == limits and call('GET', KEYS[1]) == (kind == 'h' and id or '~shared') then
    deadline = now + ARGV[3]
    call('PEXPIREAT', KEYS[1], deadline)
    call('HSET', KEYS[2], '~', 'FORMAT ' .. kind .. ' ' .. has .. ' ' .. ends .. ' ' .. deadline .. ' ' .. since .. ' ' .. id .. ' ' .. ARGV[4])
    return 'g ' .. has .. ' 0 0'
  end
end

-- Somebody tries a lock that one claim has to itself.
if state and token == '0' and ARGV[7] ~= '1' and not ended then
  local deadline, holder = string.match(state, '^FORMAT h %d+ %d+ (%d+) %d+ (%S+)')
  local now = string.sub(micros, 1, -4)
  if holder and holder ~= id and deadline >= now and call('GET', KEYS[1]) == holder then
    return 'w 0 ' .. (deadline - now + 1) .. ' 0'
  end
end

--include claims.lua

load()
settle()
local c, mark = find(id)
if not c and (mark or token ~= '0') or c and token ~= '0' and token ~= c.token then
  save()
  return 'gone'
end

local asked = {}
asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest = string.match(ARGV[4], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0

if c then
  c.ttl, c.channel, c.rest, c.deadline = asked.ttl, asked.channel, asked.rest, now + asked.ttl
  write(id, c)
  if c.mark ~= 'w' then
    q.till = q.held == SHARED and math.max(q.till, c.deadline) or c.deadline
    q.taken = true
  end
elseif ARGV[7] == '1' or q.granted == q.count and fits(asked) then
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
