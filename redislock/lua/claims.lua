-- The queue of one lock, for the slow half of every script: what its work, as whole.lua has it, begins with.
--
-- KEYS  1 the lock: while a claim is granted its ID, or '~shared' where several may be; the form other clients know
--       2 the claims, a hash: '~' is the state; every other field is a claim, named by its ID, or one that ended, see
--         ended.lua
--       3 the order, a sorted set: IDs by token; the first q.granted of them are granted
--       4 the expiry, a sorted set: IDs by deadline in ms, negative while the claim waits
-- State 'FORMAT i LAST REFRESH'                       no claims
--       'FORMAT i TOKEN REFRESH RENEWED ID ABOUT'    no claims; this one was released, and no field says so yet
--       'FORMAT h TOKEN REFRESH RENEWED ID ABOUT'    one claim, which has the lock to itself; RENEWED is zero at first
--                                              (of a token that was chosen, the time of the grant)
--       'FORMAT s ...'                               the same, but it would share the lock
--       'FORMAT q LAST REFRESH COUNT GRANTED SUM NEXT TILL HELD LIMITS WATCHERS'   the claims are in keys 2 to 4
-- Claim 'FORMAT w|g|v TOKEN DEADLINE SINCE ABOUT'    waiting, granted, revoked
-- ABOUT 'WEIGHT LIMIT TTL CHANNEL FLAGS LENGTH:OWNER VALUE'
-- These words are replaced when the script is loaded: FORMAT (the number of the format), LAST_TOKEN (a key, or false,
-- see above_all.lua), KEEP and KEEP_APART (for how many ms the claims outlive their last use, with that key and
-- without), MARGIN (how much sooner, in µs, the expiry is due where the script is one of those that keep for longer),
-- CHANNELS (what the names of channels begin with), and the places of state.go: KIND_AT, TOKEN_AT, TOKEN_END,
-- REFRESH_AT, REFRESH_END, ID_AT, SERIES_END, NUMBER_AT and MS_END.
--
-- Times are ms, which '..' prints exactly. LAST, TOKEN and REFRESH (when the keys' expiry is to be set again, half of
-- KEEP before they expire) are µs, which it does not: they are printed with 16 digits, always. RENEWED has 13. So the
-- places of a state are always the same, and the fast halves of scripts need not search. Neither is printed with %d,
-- which has 32 bits where the server has.

local function digits(n)
  printed[n] = printed[n] or string.format('%016.0f', n)
  return printed[n]
end

-- number reads what digits printed.
local function number(text)
  local n = text + 0
  if #text == 16 then printed[n] = text end
  return n
end

local function check_format(record)
  if string.sub(record, 1, KIND_AT - 1) == 'FORMAT ' then return end -- as most are
  local format = match(record, '^(%d+) ') or broken('a record without a format')
  error(redis.error_reply('HOLDFASTVERSION ' .. format))
end

-- Claims.

-- is_complete looks at the end of a claim, 'FLAGS LENGTH:OWNER VALUE'.
local function is_complete(rest)
  local _, colon, length = string.find(rest or '', '^%d+ (%d+):')
  return length and #rest - colon >= length + 0
end

local function decode(record)
  check_format(record)
  local c = {}
  c.mark, c.token, c.deadline, c.since, c.weight, c.limit, c.ttl, c.channel, c.rest =
    match(record, '^%d+ ([wgv]) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
  if not is_complete(c.rest) then return nil end
  c.deadline, c.weight, c.limit, c.ttl = c.deadline + 0, c.weight + 0, c.limit + 0, c.ttl + 0
  return c
end

local function about(c)
  return c.weight .. ' ' .. c.limit .. ' ' .. c.ttl .. ' ' .. c.channel .. ' ' .. c.rest
end

local function write(id, c)
  local deadline = string.format('%.0f', c.deadline) -- once: numbers print slowly
  call('HSET', CLAIMS, id, 'FORMAT ' .. c.mark .. ' ' .. c.token .. ' ' .. deadline .. ' ' .. c.since .. ' ' .. about(c))
  call('ZADD', EXPIRY, c.mark == 'w' and '-' .. deadline or deadline, id)
  known[id], c.stored = c, true
  q.next, q.latest = math.min(q.next, c.deadline), math.max(q.latest, c.deadline)
end

local function read(id)
  if not id or known[id] then return known[id] end
  local record = call('HGET', CLAIMS, id)
  known[id] = record and decode(record) or nil
  return known[id]
end

-- member is a claim of the order, or of the expiry.
local function member(id) return read(id) or broken('a claim without a record') end

--include ended.lua

-- is_member tells a claim from the record of one that is gone from the order and the expiry.
local function is_member(id, c)
  if c.stored or q.held == id then return true end -- by this script, or as the state says
  local score = c.mark == 'w' and -c.deadline or c.deadline
  for _, other in ipairs(call('ZRANGEBYSCORE', EXPIRY, score, score)) do
    if other == id then return true end
  end
end

-- find returns a live claim, or nil and the mark and token of one that ended, if there is one. A claim may have ended
-- and still be in the queue, where the budget has not reached it.
local function find(id)
  local c = read(id)
  if not c then return nil, ended(id) end
  if c.deadline < now or q.lost and c.mark ~= 'w' or not is_member(id, c) then return nil, 'e', c.token end
  return c
end

-- publish tells the client that listens at an address. An address that begins with '~' is a channel in the slot of
-- the lock.
local function publish(address, message)
  if string.sub(address, 1, 1) == '~' then
    call('SPUBLISH', CLAIMS .. ':' .. address, message)
  elseif address ~= '-' then
    call('PUBLISH', CHANNELS .. address, message)
  end
end

local function tell(c, message) mail[#mail + 1] = {c.channel, message} end

-- The state.

local function empty(last, refresh)
  return {
    last = last, refresh = refresh, latest = 0,
    count = 0, granted = 0, sum = 0, next = 0, till = 0, held = '-', limits = {}, watchers = {},
  }
end

-- within returns a deadline that is not too far ahead. One is too far ahead if the clock was set back after it was
-- stored.
local function within(deadline, ttl) return math.min(deadline, now + ttl) end

-- spread turns the single claim of a state into a queue, so that others can join behind it. It bars the IDs before it
-- in its series: until now the state did that by itself.
local function spread(kind)
  local token, refresh, renewed, id, rest = match(state, '^%d+ %a (%d+) (%d+) (%S+) (%S+) (.*)$')
  local c = {mark = 'g', token = token, since = string.sub(token, 1, MS_END)}
  c.weight, c.limit, c.ttl, c.channel, c.rest = match(rest, '^(%d+) (%d+) (%d+) (%S+) (.*)$')
  if not is_complete(c.rest) then broken('a claim that is not complete') end
  c.weight, c.limit, c.ttl = c.weight + 0, c.limit + 0, c.ttl + 0
  local deadline = (renewed + 0 == 0 and c.since or renewed) + c.ttl
  c.deadline = within(deadline, c.ttl)
  clear()
  q = empty(number(token), number(refresh))
  q.count, q.granted, q.sum, q.limits[c.limit] = 1, 1, c.weight, 1
  q.held, q.till, q.next = kind == 'h' and id or SHARED, c.deadline, c.deadline
  q.taken = c.deadline < deadline
  write(id, c)
  call('ZADD', ORDER, token, id)
  q.fresh = true
  local _, number = place(id)
  if not barring(id, number) then bar(id, c.ttl, now) end
end

-- load_idle gives the claim that was released last a field of its own.
local function load_idle()
  local last, refresh, id, ttl = match(state, '^%d+ i (%d+) (%d+) %d+ (%S+) %d+ %d+ (%d+)')
  if id then
    bury(id, 'r', last, ttl, now)
  else
    last, refresh = match(state, '^%d+ i (%d+) (%d+)$')
  end
  clear()
  q = empty(number(last), number(refresh))
end

-- has_members reports whether a sorted set has so many.
local function has_members(key, count)
  return #call('ZRANGE', key, math.max(count - 1, 0), count) == math.min(count, 1)
end

local function load_queue()
  local last, refresh, count, granted, sum, next_, till, held, limits, watchers =
    match(state, '^%d+ q (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (%S+)$')
  q = empty(number(last), number(refresh))
  q.count, q.granted, q.sum, q.next, q.till, q.held = count + 0, granted + 0, sum + 0, next_ + 0, till + 0, held
  for limit, n in string.gmatch(limits, '(%d+):(%d+)') do q.limits[limit + 0] = n + 0 end
  for channel, till_ in string.gmatch(watchers, '([^;=]+)=(%d+)') do q.watchers[channel] = till_ + 0 end
  if q.granted > q.count or q.granted == 0 and (q.sum > 0 or next(q.limits)) then
    broken('a state that contradicts itself')
  end
  if not has_members(ORDER, q.count) or not has_members(EXPIRY, q.count) then broken('a queue that is not complete') end
end

local function load()
  if not state then
    q = empty(math.max(last_lost, clear()), 0)
    return
  end
  check_format(state)
  local kind = match(state, '^%d+ (%a)')
  if kind == 'i' then
    load_idle()
  elseif kind == 'q' then
    load_queue()
  elseif kind == 'h' or kind == 's' then
    spread(kind)
  else
    broken('a state of no kind')
  end
end

local function pairs_of(t, format)
  local out = {}
  for k, v in pairs(t) do out[#out + 1] = string.format(format, k, v) end
  return #out > 0 and table.concat(out, ';') or '-'
end

-- notify tells those who watch, once.
local function notify()
  for channel in pairs(q.watchers) do tell({channel = channel}, 'w ' .. CLAIMS) end
  q.watchers = {}
end

-- lifetime is for how many ms the keys outlive what is done now.
local function lifetime() return math.max(keep or 0, apart and KEEP_APART or KEEP) end

-- outlive sets the expiry of the keys, of all together, where that is due. It shortens none.
local function outlive(due)
  local till = now + lifetime()
  if not state then
    call('PEXPIREAT', CLAIMS, till)
  elseif due then
    call('PEXPIREAT', CLAIMS, till, 'GT')
  end
  if q.count > 0 and due then
    for _, key in ipairs({ORDER, EXPIRY}) do
      if q.fresh then call('PEXPIREAT', key, till) else call('PEXPIREAT', key, till, 'GT') end
    end
  end
end

-- is_due reports whether the keys might expire before a claim does, or have to expire together anew. Whoever set
-- their expiry may have kept them for less, so nothing but the time until q.refresh is sure.
local function is_due()
  local margin = apart and MARGIN or 0
  return keep or q.fresh or math.max(now, q.latest) * 1000 + margin >= q.refresh
end

local function save()
  if q.changed then notify() end
  local due = is_due()
  if due then q.refresh = micros + (apart and KEEP_APART or KEEP) * 500 end
  if q.count == 0 and next(q.watchers) == nil then
    call('HSET', CLAIMS, '~', 'FORMAT i ' .. digits(q.last) .. ' ' .. digits(q.refresh))
  else
    call('HSET', CLAIMS, '~', string.format('FORMAT q %s %s %d %d %d %.0f %.0f %s %s %s',
      digits(q.last), digits(q.refresh), q.count, q.granted, q.sum, q.next, q.till, q.held,
      pairs_of(q.limits, '%d:%d'), pairs_of(q.watchers, '%s=%.0f')))
  end
  outlive(due)
  for _, m in ipairs(mail) do publish(m[1], m[2]) end
end

-- Ends.

-- drop takes a claim out of the queue.
local function drop(id, c, mark)
  known[id] = nil
  if head == id then head = nil end
  call('ZREM', ORDER, id)
  call('ZREM', EXPIRY, id)
  q.count = q.count - 1
  q.changed = true
  if c.mark ~= 'w' then
    q.granted, q.sum = q.granted - 1, q.sum - c.weight
    local n = q.limits[c.limit] - 1
    q.limits[c.limit] = n > 0 and n or nil
  end
  call('HDEL', CLAIMS, id) -- first: the field that remembers it is a new one then, and counts
  bury(id, mark, c.token, c.ttl, now)
end

-- cut ends claims that their clients did not release, and tells these.
local function cut(ids)
  for _, id in ipairs(ids) do
    local c = member(id)
    drop(id, c, 'e')
    tell(c, 'x ' .. id)
    budget = budget - 1
  end
end

-- lose ends the granted claims when somebody else wrote KEY, or it is gone. They count as lost at once, all of them.
local function lose()
  if q.granted == 0 or value == q.held then return end
  if budget > 0 then cut(call('ZRANGE', ORDER, 0, math.min(q.granted, budget) - 1)) end
  q.lost = q.granted > 0
end

local function expire()
  if now <= q.next or budget <= 0 then return end
  cut(call('ZRANGEBYSCORE', EXPIRY, 1 - now, now - 1, 'LIMIT', 0, budget))
  local granted = call('ZRANGEBYSCORE', EXPIRY, 1, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  local waiting = call('ZREVRANGEBYSCORE', EXPIRY, -1, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  q.next = math.min(granted or math.huge, -(waiting or -math.huge))
  if q.next == math.huge then q.next = 0 end
end

-- rein brings back the deadlines of claims that nobody has renewed after the clock was set back. It looks only at
-- claims that would live for longer than a new claim with this TTL, so it costs little while the clock is right.
local function rein(ttl)
  local far, most = '(' .. now + ttl, math.max(budget, 0)
  local ids = {}
  if q.till > now + ttl then ids = call('ZREVRANGEBYSCORE', EXPIRY, '+inf', far, 'LIMIT', 0, most) end
  if q.count > q.granted then
    for _, id in ipairs(call('ZRANGEBYSCORE', EXPIRY, '-inf', '(' .. -(now + ttl), 'LIMIT', 0, most)) do
      ids[#ids + 1] = id
    end
  end
  for _, id in ipairs(ids) do
    local c = member(id)
    if within(c.deadline, c.ttl) < c.deadline then
      c.deadline = within(c.deadline, c.ttl)
      write(id, c)
      q.taken = q.taken or c.mark ~= 'w'
      budget = budget - 1
    end
  end
  if q.taken then q.till = call('ZREVRANGEBYSCORE', EXPIRY, '+inf', 1, 'WITHSCORES', 'LIMIT', 0, 1)[2] + 0 end
end

-- Grants.

-- room is how many units are left for claims with this limit.
local function room(limit)
  for other in pairs(q.limits) do limit = math.min(limit, other) end
  return foreign and 0 or limit - q.sum
end

local function fits(c) return c.weight <= room(c.limit) end

-- count adds a claim to those granted and makes KEY say so.
local function count(id, c)
  q.granted, q.sum = q.granted + 1, q.sum + c.weight
  q.limits[c.limit] = (q.limits[c.limit] or 0) + 1
  q.held = c.weight == c.limit and id or SHARED
  q.till = math.max(q.till, c.deadline)
  q.taken = true
  head = nil
end

-- first_in_line is the ID of the claim that is granted next, if one waits.
local function first_in_line()
  head = head or call('ZRANGE', ORDER, q.granted, q.granted)[1]
  return head
end

-- grant gives the lock to the next claims in line, as far as there is room, and tells their clients. The one that
-- asks is told by the answer.
local function grant(asking)
  while q.granted < q.count and budget > 0 and not q.lost and room(math.huge) > 0 do
    local id = first_in_line()
    local c = member(id)
    if c.mark ~= 'w' then broken('a claim that is granted and in line') end
    if c.deadline < now then
      cut({id})
    elseif not fits(c) then
      return
    else
      if q.granted == 0 then q.till = 0 end
      c.mark, c.deadline = 'g', within(c.deadline, c.ttl)
      count(id, c)
      write(id, c)
      q.changed = true
      budget = budget - 1
      if id ~= asking then
        tell(c, 'g ' .. id .. ' ' .. c.token .. ' ' .. c.ttl .. ' ' .. (q.count > q.granted and 1 or 0))
      end
    end
  end
end

-- take makes KEY agree with what was granted.
local function take()
  if q.granted == 0 then
    if q.held ~= '-' and not foreign then call('DEL', KEY) end
    q.held, q.till = '-', 0
  elseif q.taken then
    call('SET', KEY, q.held, 'PXAT', q.till)
  end
  q.taken = false
end

-- settle brings the queue up to date, as far as the budget goes: claims that were lost or expired end, and those for
-- which there is room are granted. The order matters: a claim that ends makes room. ttl is that of the claim that
-- asks, if one does.
local function settle(ttl)
  lose()
  if value and (q.held == '-' or value ~= q.held) then foreign = value end
  if not q.lost then
    if ttl and q.count > 0 then rein(ttl) end
    expire()
    grant()
  end
  take()
end

-- more is what answers end with when there may be more to do. The client asks again at once.
local function more() return budget > 0 and '' or ' more' end

-- add queues a claim.
local function add(id, c, token)
  c.mark, c.token, c.since, c.deadline = 'w', digits(token), now, now + c.ttl
  q.last = math.max(q.last, token)
  q.fresh = q.fresh or q.count == 0
  if q.count == 0 then q.next = c.deadline end
  q.count = q.count + 1
  q.changed = true
  write(id, c)
  call('ZADD', ORDER, c.token, id)
  newest = id
end

-- renew has a claim live for the TTL that is asked for, from now on. If that is shorter than before, a copy of a request
-- with the longer TTL may still be under way, so the ID stays barred for that long. Owner and value stay as they are: a
-- process that resumes the claim does not know them.
local function renew(id, c, asked)
  if asked.ttl < c.ttl then bar(id, c.ttl, now) end
  c.ttl, c.deadline = asked.ttl, now + asked.ttl
  c.rest = string.sub(asked.rest, 1, 1) .. string.sub(c.rest, 2)
end

-- blocked is the time in ms until whatever blocks the next in line expires. Other clients' locks are looked at every
-- second: they do not tell when they end.
local function blocked()
  if foreign then
    local left = call('PTTL', KEY)
    return left >= 0 and math.min(math.max(left, 1), 1000) or 1000
  end
  if budget <= 0 then return 1 end
  local soonest = call('ZRANGEBYSCORE', EXPIRY, 1, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  return soonest and math.max(soonest - now, 1) or 1
end

local function is_detached(c) return string.sub(c.rest, 1, 1) >= '2' end

-- is_older reports whether a request was sent before its claim was detached: a detached claim is renewed only by
-- requests that say so.
local function is_older(asked, c) return is_detached(c) and not is_detached(asked) end

-- left is what the answer to such a request ends with.
local function left(c) return ' left ' .. math.max(c.deadline - now, 1) end

-- is_last reports whether no claim came after this one.
local function is_last(id) return q.count == 1 or newest == id or call('ZRANGE', ORDER, -1, -1)[1] == id end

-- is_next reports whether a claim that waits is the first in line.
local function is_next(id) return (newest ~= id or q.count == q.granted + 1) and first_in_line() == id end

-- answer is the status of a claim: 'MARK TOKEN RETRY CONTENDED', and perhaps more; older is what left says, or nil.
local function answer(id, c, older)
  local retry = c.mark == 'w' and (budget <= 0 or is_next(id)) and blocked() or 0
  return c.mark .. ' ' .. c.token .. ' ' .. retry .. ' ' .. (is_last(id) and 0 or 1) .. (older or '') .. more()
end

-- refusal is the answer to a claim that is not granted and does not wait. It tells a token, or 0.
local function refusal(token)
  return 'w ' .. token .. ' ' .. (q.granted == q.count and blocked() or 0) .. ' 0' .. more()
end
