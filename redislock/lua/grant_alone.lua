-- grant_alone grants a new claim a lock that nobody else wants, and returns what request.lua does, or nil. It makes few
-- calls, and reads the state at the places that state.go gives names to: field
-- '~' of the claims, the state, is the whole queue then, and is not there yet or says which claim was released last.
-- A file that includes this one has included above_all.lua. micros is the time as_text, and the token too, unless the
-- caller chose another time for that: RENEWED is when the claim was granted then. keep is that of request.lua, or nil.
local function grant_alone(KEY, CLAIMS, state, micros, token, id, kind, ttl, about, keep)
  local free, refresh = not state, ''
  if state and string.sub(state, 1, TOKEN_AT - 1) == 'FORMAT i '
    and string.sub(state, TOKEN_AT, TOKEN_END) < token then -- else the clock was set back, or the choice is a bad one
    local before = string.sub(state, ID_AT, ID_AT + #id) -- with the space behind it, if it is as long as the new one
    refresh = string.sub(state, REFRESH_AT, REFRESH_END)
    -- What the state says of the claim released last may be forgotten if the new one comes after it in the same
    -- series: a late copy of the earlier request is barred by the number of the later one.
    free = before < id and string.sub(before, 1, SERIES_END - 1) == string.sub(id, 1, SERIES_END)
      and string.find(before, '^_%d%d%d%d%d%d%d%d $', SERIES_END - 1)
    if not free then
      --include ended.lua
      local last, other, lived = string.match(state, '^%d+ i (%d+) %d+ %d+ (%S+) %d+ %d+ (%d+)')
      if other then bury(other, 'r', last, lived, string.sub(micros, 1, MS_END) + 0) end
      free = not ended(id)
    end
  end
  if not free or not call('SET', KEY, kind == 'h' and id or '~shared', 'NX', 'PX', ttl) then return nil end
  local long = is_apart or token ~= micros
  if not long then
    token = above_all(token)
    long = is_apart
  end
  local lifetime, margin = KEEP, ttl * 1000
  if long then lifetime, margin = KEEP_APART, math.max(margin, MARGIN) end
  local due = keep or (tonumber(refresh) or 0) <= micros + margin -- whoever set it may have kept the claims for less
  if due then refresh = string.format('%016.0f', micros + lifetime * 500) end
  if keep then lifetime = math.max(lifetime, keep) end
  local renewed = token == micros and '0000000000000' or string.sub(micros, 1, MS_END)
  call('HSET', CLAIMS, '~',
    'FORMAT ' .. kind .. ' ' .. token .. ' ' .. refresh .. ' ' .. renewed .. ' ' .. id .. ' ' .. about)
  if not state then call('PEXPIRE', CLAIMS, lifetime) elseif due then call('PEXPIRE', CLAIMS, lifetime, 'GT') end
  return 'g ' .. token .. ' 0 0'
end
