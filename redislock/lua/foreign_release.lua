-- Gives back a lock that another library's layout keeps, and tells those who wait.
-- KEYS     as in foreign_request.lua
-- ARGV     1 the claim as the layout calls it  2 its token, '0' for any  3 TTL in ms
-- Returns  {'ok'}, or {'gone'} when the claim did not have the lock; then its ID is barred
local call = redis.call

--layout

local function ended(how)
  call('SET', KEYS[4], how, 'PX', math.max(ARGV[3] * 2, call('PTTL', KEYS[4])))
end

local mark = call('GET', KEYS[4])
local released = mark and string.match(mark, '^released (%d+)$')
if released then
  return {(ARGV[2] == '0' or ARGV[2] == released) and 'ok' or 'gone'}
end
if mark == 'waits' and ARGV[2] == '0' then
  if call('HGET', KEYS[3], 'waiter') == ARGV[1] then call('HDEL', KEYS[3], 'waiter') end
  ended('released 0')
  leave()
  return {'ok'}
end
local token = mark and string.match(mark, '^%d+$')
if token and ARGV[2] ~= '0' and ARGV[2] ~= token then return {'gone'} end
if token and is_ours() then
  drop()
  ended('released ' .. token)
  return {'ok'}
end
if token or ARGV[2] == '0' then ended('ended') end
return {'gone'}
