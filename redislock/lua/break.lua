-- Ends a claim by force, and grants what that makes grantable.
-- ARGV     1 ID
-- Returns  'ok' or 'gone'; with ' more' behind it where claims that may be granted now are not granted yet: the caller
--          repeats the script
local call = redis.call
local state = call('HGET', KEYS[2], '~')

local clock, keep, value
--include whole.lua

if not state then return 'gone' end
return whole(function()
  --include claims.lua
  load()
  settle()
  local c = find(ARGV[1])
  if c then
    cut({ARGV[1]})
    grant()
    take()
  end
  save()
  return (c and 'ok' or 'gone') .. more()
end)
