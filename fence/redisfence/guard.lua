-- Runs a command unless a greater token was seen.
-- KEYS     1 the greatest token  2... keys of the command
-- ARGV     1 token  2 how long to remember it, in ms  3 command  4... what follows the keys in it
-- Returns  what the command returns; or an error that begins with STALE, and the greatest token.
--
-- Tokens stay text, because they exceed the numbers that Lua has exactly: the longer one is greater. The token is noted
-- before the command runs: if that fails, the token was seen all the same.
local token, seen = ARGV[1], redis.call('GET', KEYS[1])
if seen and (#token < #seen or #token == #seen and token < seen) then
  return redis.error_reply('STALE ' .. seen)
end
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
local command = {ARGV[3]}
for i = 2, #KEYS do command[#command + 1] = KEYS[i] end
for i = 4, #ARGV do command[#command + 1] = ARGV[i] end
return redis.call(unpack(command))
