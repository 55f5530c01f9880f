-- sweep looks at some fields of the claims and forgets the claims that ended long ago. It runs for one in 16 that get
-- a field and looks at 32, so the ended ones never outnumber much more than twice those that must be known.
local function sweep(now)
  local page = call('HSCAN', CLAIMS, string.format('%.0f', now), 'COUNT', 32)[2]
  local forgotten = {}
  for i = 2, #page, 2 do
    local till = string.match(page[i], '^%d+ [re] (%d+)')
    if till and till + 0 < now then forgotten[#forgotten + 1] = page[i - 1] end
  end
  if #forgotten > 0 then call('HDEL', CLAIMS, unpack(forgotten)) end
end
