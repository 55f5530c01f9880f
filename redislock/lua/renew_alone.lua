-- renewed_about is ABOUT of a claim that had one and asks with another; nil if more changes than this file is for.
local function renewed_about(had, asked)
  local units, lives, channel, flags, described = string.match(had, '^(%d+ %d+) (%d+) (%S+) (%d)(.*)$')
  local same, ttl, address, asked_flags = string.match(asked, '^(%d+ %d+) (%d+) (%S+) (%d)')
  if ttl + 0 < lives + 0 or units ~= same
    or (channel ~= address and channel ~= '-') or (flags >= '2' and asked_flags < '2') then return nil end
  return units .. ' ' .. ttl .. ' ' .. address .. ' ' .. asked_flags .. described
end

-- renew_alone renews a claim that has its lock with nobody behind it, for no less than it had: nothing changes but when
-- it ends. It returns what request.lua does; or nil, the state (field '~' of the claims, which is the whole queue then)
-- and the value of KEY. A file that includes this one has included above_all.lua and lone.lua. micros is the time
-- as_text, keep that of request.lua, or nil.
local function renew_alone(KEY, CLAIMS, micros, id, token, ttl, about, keep)
  local value = call('GET', KEY)
  if is_lone(value, id, token) then
    local head = TOKEN_END + #id + 2
    local text = renewed_about(string.sub(value, head + 1), about)
    if not text then return nil, false, value end
    call('SET', KEY, string.sub(value, 1, head) .. text, 'PX', ttl)
    return 'g ' .. token .. ' 0 0'
  end
  local state = call('HGET', CLAIMS, '~')
  if not state then return nil, state, value end
  local kind, has, refresh, holder, had = string.match(state, '^FORMAT ([hs]) (%d+) (%d+) %S+ (%S+) (.*)$')
  if holder ~= id or has ~= token or value ~= (kind == 'h' and id or '~shared') then return nil, state, value end
  local text = renewed_about(had, about)
  if not text then return nil, state, value end
  call('PEXPIRE', KEY, ttl)
  if keep or micros + ttl * 1000 >= refresh + 0 then
    above_all(token)
    local lifetime = is_apart and KEEP_APART or KEEP
    refresh = string.format('%016.0f', micros + lifetime * 500)
    call('PEXPIRE', CLAIMS, math.max(lifetime, keep or 0), 'GT')
  end
  local renewed = string.sub(micros, 1, MS_END)
  call('HSET', CLAIMS, '~',
    'FORMAT ' .. kind .. ' ' .. has .. ' ' .. refresh .. ' ' .. renewed .. ' ' .. id .. ' ' .. text)
  return 'g ' .. has .. ' 0 0'
end
