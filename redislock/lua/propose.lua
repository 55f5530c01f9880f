-- Requests a claim without queueing it, under a token that the caller chose.
-- ARGV     1 ID  2 chosen token  3 TTL in ms  4 ABOUT  5 'h' if it would have the lock alone, else 's'
--          6 by how many µs the token may be ahead of the clock  7 keep, where that is longer than KEEP
-- Returns  'MARK TOKEN RETRY CONTENDED' as request.lua does. Where TOKEN is not the chosen one, it is the greatest so
--          far, which is the claim's for now: a greater one may be proposed. Or 'gone', or 'future'.
--          Behind that ' life ', the server's run ID, and for how many seconds it has run.
local call = redis.call
local KEY, CLAIMS = KEYS[1], KEYS[2]
local id, token, keep = ARGV[1], ARGV[2], ARGV[7]
local state = call('HGET', CLAIMS, '~')
local clock = call('TIME')
--include as_text.lua
--include above_all.lua
--include grant_alone.lua
local micros = as_text(clock)

-- reply answers, in the same step as the grant, in which of its lives the server is.
local function reply(text)
  local info = call('INFO', 'server')
  return text .. ' life ' .. (string.match(info, 'run_id:(%w+)') or '-') .. ' '
    .. (string.match(info, 'uptime_in_seconds:(%-?%d+)') or '0')
end

if tonumber(token) > micros + ARGV[6] then return reply('future') end

-- The token tells since when the claim has the lock, so it must be a time.
if #token == #micros then
  local granted = grant_alone(KEY, CLAIMS, state, micros, token, id, ARGV[5], ARGV[3], ARGV[4], keep)
  if granted then return reply(granted) end
end

-- One claim has the lock to itself: the answer changes nothing.
if state then
  --include ended.lua
  local has, holder, lives = string.match(state, '^FORMAT h (%d+) %d+ %S+ (%S+) %d+ %d+ (%d+) ')
  if holder and place(holder) ~= place(id) and not ended(id) and call('GET', KEY) == holder then
    local left = call('PTTL', KEY)
    if left >= 0 and left <= lives + 0 then -- else the clock was set back, or the key has no end
      return reply('w ' .. has .. ' ' .. math.max(left, 1) .. ' 0')
    end
  end
end

local value
--include whole.lua

return whole(function()
  --include claims.lua
  load()
  apart = true
  settle(ARGV[3] + 0)
  local c, mark = find(id)
  if mark then
    save()
    return reply('gone')
  end

  local asked = {}
  asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest = match(ARGV[4], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
  asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0
  local accepted, older = tonumber(token) > q.last, nil

  if not c then
    if budget <= 0 or q.granted < q.count or not fits(asked) then -- without a budget nothing would grant it
      save()
      return reply(refusal(digits(q.last)))
    end
    add(id, asked, accepted and tonumber(token) or q.last + 1) -- the clock may be ahead of those of others
    grant(id)
    c = find(id)
  else
    older = is_older(asked, c) and left(c)
    if not older then
      renew(id, c, asked)
      q.till = math.max(q.till, c.deadline)
      q.taken = true
    end
    if accepted then
      c.token = token
      q.last = tonumber(token)
    end
  end
  write(id, c)
  take()
  save()
  local told = c.token == token and token or digits(q.last)
  return reply(c.mark .. ' ' .. told .. ' 0 ' .. (is_last(id) and 0 or 1) .. (older or ''))
end)
