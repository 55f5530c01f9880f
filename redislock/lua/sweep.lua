-- sweep looks at some fields of the claims, picked by the seed, and forgets the claims that ended long ago. It runs for
-- one in 16 that end and looks at 32, so the ended ones never outnumber twice those that must be remembered.
local function sweep(seed, now)
  local page = redis.call('HSCAN', KEYS[2], string.format('%.0f', math.floor(seed / 16)), 'COUNT', 32)[2]
  for i = 1, #page, 2 do
    local token, from, ttl = string.match(page[i + 1], '^%d+ [re] (%d+) (%S+) (%d+)$')
    if from == '-' then from = string.sub(token, 1, -4) end
    if from and from + 2 * ttl < now then redis.call('HDEL', KEYS[2], page[i]) end
  end
end
