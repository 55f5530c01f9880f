-- release_alone releases a claim that has its lock with nobody behind it, and returns 'ok', or nil: field '~' of the
-- claims, the state, is the whole queue then. KEY has its value still, so the claim has not expired, and no clock is
-- needed. Token '0' is any, for a client that does not know the token yet. A file that includes this one has set call.
local function release_alone(KEY, CLAIMS, state, id, token)
  if not state or string.sub(state, ID_AT, ID_AT + #id) ~= id .. ' ' then return nil end
  if token == '0' then token = string.sub(state, TOKEN_AT, TOKEN_END) end
  local head = string.sub(state, 1, TOKEN_END)
  local held = head == 'FORMAT h ' .. token and id or head == 'FORMAT s ' .. token and '~shared'
  if not held or call('GET', KEY) ~= held then return nil end
  call('DEL', KEY)
  call('HSET', CLAIMS, '~', 'FORMAT i' .. string.sub(state, KIND_AT + 1)) -- the rest says how the claim ended
  return 'ok'
end
