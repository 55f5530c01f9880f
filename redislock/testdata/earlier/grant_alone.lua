-- grant_alone grants a new claim a lock that nobody else wants, and returns what request.lua does, or nil: field '~' of the
-- claims, the state, is the whole queue then, and is not there yet or says which claim was released last. What it says of
-- that may be forgotten if the new claim is of the same series. That is asked most often, and takes few calls.
-- Who includes this file has set call. micros is the time as_text.
local function grant_alone(KEY, CLAIMS, state, micros, id, kind, ttl, about)
  local free, refresh = not state, ''
  if state and string.sub(state, 1, #'FORMAT' + 3) == 'FORMAT i ' and string.sub(state, #'FORMAT' + 4, #'FORMAT' + 19) < micros then
    local before = string.sub(state, #'FORMAT' + 52, #'FORMAT' + 52 + #id)
    refresh = string.sub(state, #'FORMAT' + 21, #'FORMAT' + 36)
    free = before < id and string.sub(before, 1, -10) == string.sub(id, 1, -9) and string.find(before, '^_%d%d%d%d%d%d%d%d $', -10)
    if not free then
      --include ended.lua
      local last, other, lived = string.match(state, '^%d+ i (%d+) %d+ %d+ (%S+) %d+ %d+ (%d+)')
      if other then bury(other, 'r', last, lived, string.sub(micros, 1, -4) + 0) end
      free = not ended(id)
    end
  end
  if not free or not call('SET', KEY, kind == 'h' and id or '~shared', 'NX', 'PX', ttl) then return nil end
  local due = (tonumber(refresh) or 0) <= micros + ttl * 1000 -- whoever set it may have another KEEP
  if due then refresh = string.format('%016.0f', micros + KEEP * 500) end
  call('HSET', CLAIMS, '~', 'FORMAT ' .. kind .. ' ' .. micros .. ' ' .. refresh .. ' 0000000000000 ' .. id .. ' ' .. about)
  if not state then call('PEXPIRE', CLAIMS, KEEP) elseif due then call('PEXPIRE', CLAIMS, KEEP, 'GT') end
  return 'g ' .. micros .. ' 0 0'
end
