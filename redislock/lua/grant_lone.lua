-- grant_lone makes a new claim a lone one where kind is 'H' or 'S', and returns what request.lua does; or nothing where
-- the lock is taken, or must remember its last token itself. A file that includes this one has included above_all.lua,
-- and knows that there are no claims of the lock. A lock that is taken costs no write.
local function grant_lone(KEY, micros, id, kind, ttl, about)
  if kind ~= 'H' and kind ~= 'S' then return end
  local head, rest = 'FORMAT ' .. string.lower(kind) .. ' ', ' ' .. id .. ' ' .. about
  if not call('SET', KEY, head .. micros .. rest, 'NX', 'PX', ttl) then return end
  local token = above_all(micros)
  if is_apart then
    call('DEL', KEY)
    return
  end
  if token ~= micros then call('SET', KEY, head .. token .. rest, 'PX', ttl) end
  return 'g ' .. token .. ' 0 0'
end
