-- The claims that ended. A late copy of a request for one of them must find that it did, so the claims hash remembers
-- them for as long as such a copy may be under way:
--   field ID         'FORMAT r|e UNTIL TOKEN'         it was released, or ended otherwise; UNTIL is in ms
--   field ~SERIES_   'FORMAT r|e UNTIL TOKEN NUMBER'  the same for the ID 'SERIES_NUMBER'; smaller numbers ended before
-- Who includes this file has set call, and CLAIMS, the key of the claims.

-- place is the field of an ended claim, and its number if its ID is one of a series.
local function place(id)
  if string.find(id, '^_%d%d%d%d%d%d%d%d$', -9) then return '~' .. string.sub(id, 1, -9), string.sub(id, -8) end
  return id
end

-- ended is how a claim ended, 'r' or 'e', and its token; or nil.
local function ended(id)
  local field, number = place(id)
  local mark, token, last = string.match(call('HGET', CLAIMS, field) or '', '^%d+ ([re]) %d+ (%d+) ?(%d*)$')
  if not mark or number and number > last then return nil end
  if number and number < last then return 'e', '0' end
  return mark, token
end

--include sweep.lua

-- bury remembers how a claim ended, for twice its TTL at least.
local function bury(id, mark, token, ttl, now)
  local field, number = place(id)
  local till = now + 2 * ttl
  local record = ' ' .. token
  if number then
    local longest, last = string.match(call('HGET', CLAIMS, field) or '', '^%d+ [re] (%d+) %d+ (%d+)$')
    if last and last >= number then return end
    till = math.max(till, longest or 0)
    record = record .. ' ' .. number
  end
  local added = call('HSET', CLAIMS, field, 'FORMAT ' .. mark .. ' ' .. till .. record)
  if added == 1 and call('HLEN', CLAIMS) % 16 == 0 then sweep(now) end
end
