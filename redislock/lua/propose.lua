-- Requests a claim without queueing it, under a token that the caller chose.
-- ARGV     1 ID  2 chosen token  3 ABOUT  4 TTL in ms  5 'h' if it would have the lock alone, else 's'
--          6 by how many µs the token may be ahead of the clock  7 'life' if that is to be told, else ''
--          8 keep, where that is longer than KEEP
-- Returns  'MARK TOKEN RETRY CONTENDED' as request.lua does. Where TOKEN is not the chosen one, it is the greatest so far,
--          and the claim has one from the clock: a greater one may be proposed. Or 'gone', or 'future'.
--          With 'life' a list: that, then the server's run ID, and for how many seconds it has run.
local call = redis.call
local id, token, keep = ARGV[1], ARGV[2], ARGV[8]
local got = call('HMGET', KEYS[2], '~', id)
local state = got[1]
local clock = call('TIME')

-- reply answers, in the same step as the grant, in which of its lives the server is.
local function reply(text)
  if ARGV[7] ~= 'life' then return text end
  local info = call('INFO', 'server')
  return {text, string.match(info, 'run_id:(%w+)'), string.match(info, 'uptime_in_seconds:(%d+)')}
end

if tonumber(token) > clock[1] * 1000000 + clock[2] + ARGV[6] then return reply('future') end

-- Nobody else is there: the whole queue is one field. In that form the token tells since when, so it must be a time.
if not got[2] and not keep and #token == 16 then
  local last, refresh = '0', '0'
  if state then last, refresh = string.match(state, '^FORMAT i (%d+) (%d+)$') end
  if last and tonumber(last) < tonumber(token) and call('SET', KEYS[1], ARGV[5] == 'h' and id or '~shared', 'NX', 'PX', ARGV[4]) then
    local micros = clock[1] * 1000000 + clock[2]
    local due = tonumber(refresh) <= micros
    if due then refresh = string.format('%.0f', micros + KEEP * 500) end
    local now = string.format('%.0f', math.floor(micros / 1000))
    call('HSET', KEYS[2], '~', 'FORMAT ' .. ARGV[5] .. ' ' .. token .. ' ' .. refresh .. ' ' .. now .. ' ' .. id .. ' ' .. ARGV[3])
    if due then call('PEXPIRE', KEYS[2], KEEP) end
    return reply('g ' .. token .. ' 0 0')
  end
end

-- One claim has the lock to itself: the answer changes nothing.
if state and not got[2] then
  local has, holder = string.match(state, '^FORMAT h (%d+) %d+ %S+ (%S+)')
  if holder and holder ~= id and call('GET', KEYS[1]) == holder then
    return reply('w ' .. has .. ' ' .. math.max(call('PTTL', KEYS[1]), 1) .. ' 0')
  end
end

--include claims.lua

load()
settle()
local c, mark = find(id)
if mark then
  save()
  return reply('gone')
end

local asked = {}
asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest = match(ARGV[3], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0
local accepted = tonumber(token) > q.last

if not c then
  if q.granted < q.count or not fits(asked) then
    local retry = q.granted == q.count and blocked() or 0
    save()
    return reply('w ' .. digits(q.last) .. ' ' .. retry .. ' 0')
  end
  add(id, asked, accepted and tonumber(token) or next_token())
  grant(id)
  c = find(id)
else
  c.ttl, c.deadline = asked.ttl, now + asked.ttl
  q.till = math.max(q.till, c.deadline)
  q.taken = true
  if accepted then
    c.token = token
    q.last = tonumber(token)
  end
end
write(id, c)
take()
save()
local last = q.count == 1 or call('ZRANGE', ORDER, -1, -1)[1] == id
return reply(c.mark .. ' ' .. (c.token == token and token or digits(q.last)) .. ' 0 ' .. (last and 0 or 1))
