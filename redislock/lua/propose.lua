-- Requests a claim without queueing it, under a token that the caller chose.
-- ARGV     1 ID  2 chosen token  3 ABOUT  4 by how many µs the token may be ahead of the clock  5 keep, where that is longer than KEEP
-- Returns  'MARK TOKEN RETRY CONTENDED' as request.lua does. Where TOKEN is not the chosen one, it is the greatest so far,
--          and the claim has one from the clock: a greater one may be proposed. Or 'gone', or 'future'.
local call = redis.call
local id, token, keep = ARGV[1], ARGV[2], ARGV[5]
local state = call('HGET', KEYS[2], '~')

local clock
--include claims.lua

if tonumber(token) > micros + ARGV[4] then return 'future' end
load()
settle()
local c, mark = find(id)
if mark then
  save()
  return 'gone'
end

local asked = {}
asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest = match(ARGV[3], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0
local accepted = tonumber(token) > q.last

if not c then
  if q.granted < q.count or not fits(asked) then
    local retry = q.granted == q.count and blocked() or 0
    save()
    return 'w ' .. digits(q.last) .. ' ' .. retry .. ' 0'
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
return c.mark .. ' ' .. (c.token == token and token or digits(q.last)) .. ' 0 ' .. (last and 0 or 1)
