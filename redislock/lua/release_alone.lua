-- release_alone releases a claim that has its lock with nobody behind it, and returns 'ok'; or nil, the state (field
-- '~' of the claims, which is the whole queue then) and the value of KEY. KEY has its value still, so the claim has not
-- expired, and no clock is needed. Token '0' is any, for a client that does not know the token. With token '0'
-- a lone claim is left to the whole script, because its end must be remembered. A file that includes this one has set call, and
-- included lone.lua.
local function release_alone(KEY, CLAIMS, id, token)
  local value = call('GET', KEY)
  if is_lone(value, id, token) then
    call('DEL', KEY)
    return 'ok'
  end
  local state = call('HGET', CLAIMS, '~')
  if not state or string.sub(state, ID_AT, ID_AT + #id) ~= id .. ' ' then return nil, state, value end
  if token == '0' then token = string.sub(state, TOKEN_AT, TOKEN_END) end
  local head = string.sub(state, 1, TOKEN_END)
  local held = head == 'FORMAT h ' .. token and id or head == 'FORMAT s ' .. token and '~shared'
  if not held or value ~= held then return nil, state, value end
  call('DEL', KEY)
  call('HSET', CLAIMS, '~', 'FORMAT i' .. string.sub(state, KIND_AT + 1)) -- the rest says how the claim ended
  return 'ok'
end
