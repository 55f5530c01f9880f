-- The layout of Redisson's RLock: a hash from owner to how often it has the lock, and a channel that tells of its
-- end.
local function is_ours()
  return call('HEXISTS', KEYS[1], ARGV[1]) == 1
end

local function take()
  call('HSET', KEYS[1], ARGV[1], '1')
  call('PEXPIRE', KEYS[1], ARGV[3])
end

local function drop()
  call('DEL', KEYS[1])
  call('PUBLISH', KEYS[2], '0')
end

-- All who wait get each message.
local function leave() end
