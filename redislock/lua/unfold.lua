-- unfold writes a lone claim, if KEY is one, as other claims are written. It takes the value of KEY, and returns the
-- state, or false, and the value that KEY has then. KEY comes last: should the server refuse a command before, the claim
-- is still a lone one to its holder.
local function unfold(value)
  local format, kind, token, id, about = match(value or '', '^(%d+) ([hs]) (%d+) (%S+) (.*)$')
  if not format or #token ~= 16 then return false, value end
  if format ~= 'FORMAT' then error(redis.error_reply('HOLDFASTVERSION ' .. format)) end
  local ttl = tonumber(match(about, '^%d+ %d+ (%d+) ') or 0)
  local left = call('PTTL', KEY)
  if left < 0 then left = ttl end -- the key had no end
  local lifetime = math.max(KEEP, KEEP_TTLS * ttl)
  local refresh = string.format('%016.0f', micros + lifetime * 500)
  local renewed = string.format('%013.0f', now + left - ttl)
  local text = 'FORMAT ' .. kind .. ' ' .. token .. ' ' .. refresh .. ' ' .. renewed .. ' ' .. id .. ' ' .. about
  value = kind == 'h' and id or SHARED
  call('HSET', CLAIMS, '~', text)
  call('PEXPIRE', CLAIMS, lifetime)
  call('SET', KEY, value, 'PX', math.max(left, 1))
  return text, value
end
