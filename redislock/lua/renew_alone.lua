-- renew_alone renews a claim that has its lock with nobody behind it, for no less than it had: nothing changes but when
-- it ends. It returns what request.lua does, or nil: field '~' of the claims, the state, is the whole queue then. A
-- file that includes this one has included above_all.lua. micros is the time as_text, keep that of request.lua, or nil.
local function renew_alone(KEY, CLAIMS, state, micros, id, token, ttl, about, keep)
  if not state then return nil end
  local kind, has, refresh, holder, units, lives, channel, had, described = string.match(state,
    '^FORMAT ([hs]) (%d+) (%d+) %S+ (%S+) (%d+ %d+) (%d+) (%S+) (%d)(.*)$')
  if holder ~= id or has ~= token then return nil end
  local same, address, flags = string.match(about, '^(%d+ %d+) %d+ (%S+) (%d)')
  if ttl + 0 < lives + 0 or units ~= same
    or (channel ~= address and channel ~= '-') or (had >= '2' and flags < '2')
    or call('GET', KEY) ~= (kind == 'h' and id or '~shared') then return nil end
  call('PEXPIRE', KEY, ttl)
  if keep or micros + ttl * 1000 >= refresh + 0 then
    above_all(token)
    local lifetime = is_apart and KEEP_APART or KEEP
    refresh = string.format('%016.0f', micros + lifetime * 500)
    call('PEXPIRE', CLAIMS, math.max(lifetime, keep or 0), 'GT')
  end
  local renewed = string.sub(micros, 1, MS_END)
  call('HSET', CLAIMS, '~',
    'FORMAT ' .. kind .. ' ' .. has .. ' ' .. refresh .. ' ' .. renewed .. ' ' .. id .. ' '
      .. units .. ' ' .. ttl .. ' ' .. address .. ' ' .. flags .. described)
  return 'g ' .. has .. ' 0 0'
end
