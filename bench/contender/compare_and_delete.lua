-- Deletes the key KEYS[1] if its value is ARGV[1]. Returns 1 if it did, otherwise 0.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
