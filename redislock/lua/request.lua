-- Queues a claim, or renews it.
-- ARGV     1 ID  2 the token it has; before it has one, 'h' if it would have the lock alone, else 's'; 'H' or 'S' if
--          no other copy of the request can be under way, so that it may be a lone claim
--          3 TTL in ms  4 ABOUT  5 keep, where that is longer than KEEP
-- Returns  'MARK TOKEN RETRY CONTENDED', MARK being g (granted), v (granted and revoked) or w (waiting), RETRY in ms;
--          then ' left ' and what is left of the TTL, in ms, where the claim was detached after this was sent;
--          then ' more' where the queue is not up to date yet, so that the answer may change when one asks again;
--          or 'gone'
local call = redis.call
local KEY, CLAIMS = KEYS[1], KEYS[2]
local id, token, keep = ARGV[1], ARGV[2], ARGV[5]
local first = #token == 1
local clock = call('TIME')
--include as_text.lua
--include above_all.lua
--include grant_lone.lua
local micros = as_text(clock)
local state, value, done

-- Most requests come to this, so it is done before any more functions are made.
if first then
  state = call('HGET', CLAIMS, '~')
  done = not state and grant_lone(KEY, micros, id, token, ARGV[3], ARGV[4])
  if done then return done end
end

--include lone.lua
--include grant_alone.lua
--include renew_alone.lua
if first then
  done = grant_alone(KEY, CLAIMS, state, micros, micros, id, string.lower(token), ARGV[3], ARGV[4], keep)
else
  done, state, value = renew_alone(KEY, CLAIMS, micros, id, token, ARGV[3], ARGV[4], keep)
end
if done then return done end

-- It would not wait, and one claim has the lock to itself: the lock stays as it is.
if first and string.match(ARGV[4], '^%d+ %d+ %d+ %S+ (%d)') % 2 == 0 then
  --include ended.lua
  if value == nil then value = call('GET', KEY) end
  local holder, lives = string.match(state or value or '', state and '^FORMAT h %d+ %d+ %S+ (%S+) %d+ %d+ (%d+) '
    or '^FORMAT h %d+ (%S+) %d+ %d+ (%d+) ')
  if holder and place(holder) ~= place(id) and (not state or value == holder and not ended(id)) then
    local left = call('PTTL', KEY)
    if left >= 0 and left <= lives + 0 then -- else the clock was set back, or the key has no end
      return 'w 0 ' .. left .. ' 0'
    end
  end
end

--include whole.lua

return whole(function()
  --include claims.lua
  load()
  settle(ARGV[3] + 0)
  local c, mark = find(id)
  if not c and (mark or not first) or c and not first and token ~= c.token then
    save()
    return 'gone'
  end

  local asked = {}
  asked.weight, asked.limit, asked.ttl, asked.channel, asked.rest =
    string.match(ARGV[4], '^(%d+) (%d+) (%d+) (%S+) (.*)$')
  asked.weight, asked.limit, asked.ttl = asked.weight + 0, asked.limit + 0, asked.ttl + 0
  local waits = string.sub(asked.rest, 1, 1) % 2 == 1

  if c and is_older(asked, c) then
    save()
    return answer(id, c, left(c))
  elseif c then
    renew(id, c, asked)
    -- Who queued it is told, or who goes on with one that is left alone.
    if c.channel == '-' or is_detached(asked) and asked.channel ~= '-' then c.channel = asked.channel end
    write(id, c)
    if is_due() then
      above_all(c.token)
      apart = is_apart
    end
    if c.mark ~= 'w' then
      q.till = q.held == SHARED and math.max(q.till, c.deadline) or c.deadline
      q.taken = true
    end
  elseif waits or budget > 0 and q.granted == q.count and fits(asked) then -- without a budget nothing would grant it
    local token = above_all(digits(math.max(q.last + 1, micros)))
    apart = is_apart
    add(id, asked, tonumber(token))
    grant(id)
    c = find(id)
  else
    save()
    return refusal(0)
  end
  take()
  save()
  return answer(id, c)
end)
