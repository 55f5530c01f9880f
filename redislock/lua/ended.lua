-- The claims that ended. A late copy of a request for one of them must find that it did, so the claims hash remembers
-- them for as long as such a copy may be under way:
--   field ID         'FORMAT r|e UNTIL TOKEN'         it was released, or ended otherwise; UNTIL is in ms
--   field ~SERIES_   'FORMAT r|e UNTIL TOKEN NUMBER'  the same for the ID 'SERIES_NUMBER'; smaller numbers ended before
--   field ~=ID       'FORMAT e UNTIL 0'               the claim may still live; its ID is barred until then at least
-- A file that includes this one has set call, and CLAIMS, the key of the claims.

-- place is the field of an ended claim, and its number if its ID is one of a series.
local function place(id)
  if string.find(id, '^_%d%d%d%d%d%d%d%d$', SERIES_END) then
    return '~' .. string.sub(id, 1, SERIES_END), string.sub(id, NUMBER_AT)
  end
  return id
end

-- barring is the field that bars a claim by itself, whatever its end says: of an ID with no other before it in a
-- series.
local function barring(id, number)
  if not number or number + 0 == 0 then return '~=' .. id end
end

-- ended is how a claim ended, 'r' or 'e', and its token; or nil. It is asked about claims that do not live.
local function ended(id)
  local field, number = place(id)
  local mark, token, last = string.match(call('HGET', CLAIMS, field) or '', '^%d+ ([re]) %d+ (%d+) ?(%d*)$')
  if mark and number and number < last then return 'e', '0' end
  if mark and (not number or number == last) then return mark, token end
  local bar = barring(id, number)
  if bar and call('HGET', CLAIMS, bar) then return 'e', '0' end
end

--include sweep.lua

-- put writes a field about claims that ended.
local function put(field, mark, till, rest, now)
  local added = call('HSET', CLAIMS, field, 'FORMAT ' .. mark .. ' ' .. till .. ' ' .. rest)
  if added == 1 and call('HLEN', CLAIMS) % 16 == 0 then sweep(now) end
end

-- bury remembers how a claim ended, for twice its TTL at least.
local function bury(id, mark, token, ttl, now)
  local field, number = place(id)
  local till = now + 2 * ttl
  if number then
    local longest, last = string.match(call('HGET', CLAIMS, field) or '', '^%d+ [re] (%d+) %d+ (%d+)$')
    if last and last >= number then return end
    till = math.max(till, longest or 0)
    token = token .. ' ' .. number
  end
  put(field, mark, till, token, now)
end

-- bar has a live claim remembered for twice a TTL at least when it has ended, however short the one is that it has
-- then. In a series what ended before says so: bury takes no time from that.
local function bar(id, ttl, now)
  local field, number = place(id)
  local till, own = now + 2 * ttl, barring(id, number)
  if own then
    local longest = string.match(call('HGET', CLAIMS, own) or '', '^%d+ e (%d+) 0$')
    return put(own, 'e', math.max(till, longest or 0), '0', now)
  end
  local before = string.format('%08d', number - 1)
  local mark, longest, token, last = string.match(call('HGET', CLAIMS, field) or '', '^%d+ ([re]) (%d+) (%d+) (%d+)$')
  if not last or last < before then mark, token, last = 'e', '0', before end
  put(field, mark, math.max(till, longest or 0), token .. ' ' .. last, now)
end
