-- The layout of python-redis-lock: a string with its owner, and a list that has an element for a second after each
-- end.
local function is_ours()
  return call('GET', KEYS[1]) == ARGV[1]
end

local function take()
  call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
end

local function signal()
  call('DEL', KEYS[2])
  call('LPUSH', KEYS[2], '1')
  call('PEXPIRE', KEYS[2], 1000)
end

local function drop()
  signal()
  call('DEL', KEYS[1])
end

-- Who no longer waits may have taken a signal that would have woken another.
local function leave()
  if call('EXISTS', KEYS[1]) == 0 then signal() end
end
