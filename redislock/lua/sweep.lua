-- sweep looks at some fields of the claims, picked by the seed, and forgets the claims that ended long ago. It runs for
-- one in 16 that end and looks at 32, so the ended ones never outnumber much more than twice those that must be known.
local function sweep(seed, now, ttl)
  local page = redis.call('HSCAN', KEYS[2], string.format('%.0f', math.floor(seed / 16)), 'COUNT', 32)[2]
  local old, forgotten = (now - 2 * ttl) .. '', {}
  for i = 2, #page, 2 do
    local from = string.sub(page[i], #'FORMAT' + 4, #'FORMAT' + 16)
    if from < old and string.find(page[i], '^%d+ [re] ') then
      local lived
      from, lived = string.match(page[i], '^%d+ [re] (%d+) (%d+)')
      if lived and from + 2 * lived < now + 0 then forgotten[#forgotten + 1] = page[i - 1] end
    end
  end
  if #forgotten > 0 then redis.call('HDEL', KEYS[2], unpack(forgotten)) end
end
