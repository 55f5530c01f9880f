-- request_alone grants a new claim a lock that nobody else wants, as a lone claim where kind is 'H' or 'S', and returns
-- what request.lua does; or nil and the state, field '~' of the claims. Most requests come to no more, so it makes few
-- calls. A file that includes this one has set call, and included above_all.lua.
--include lone.lua
--include grant_alone.lua
local function request_alone(KEY, CLAIMS, micros, id, kind, ttl, about, keep)
  local state = call('HGET', CLAIMS, '~')
  local letter = kind == 'H' and 'h' or kind == 'S' and 's' or kind
  if not state and kind ~= letter then
    local token = above_all(micros)
    if not is_apart then
      local value = 'FORMAT ' .. letter .. ' ' .. token .. ' ' .. id .. ' ' .. about
      if call('SET', KEY, value, 'NX', 'PX', ttl) then return 'g ' .. token .. ' 0 0' end
      return nil, state
    end
  end
  return grant_alone(KEY, CLAIMS, state, micros, micros, id, letter, ttl, about, keep), state
end
