-- grant_lone makes a new claim a lone one where kind is 'H' or 'S', and returns what request.lua does; or nothing where
-- the lock is taken, or must remember its last token itself. A file that includes this one has included above_all.lua,
-- and knows that there are no claims of the lock.
local function grant_lone(KEY, micros, id, kind, ttl, about)
  if kind ~= 'H' and kind ~= 'S' then return end
  local token = above_all(micros)
  if is_apart then return end
  local value = 'FORMAT ' .. string.lower(kind) .. ' ' .. token .. ' ' .. id .. ' ' .. about
  if call('SET', KEY, value, 'NX', 'PX', ttl) then return 'g ' .. token .. ' 0 0' end
end
