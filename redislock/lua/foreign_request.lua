-- Takes a lock that another library's layout keeps, or renews a claim that has it.
-- KEYS     1 the lock  2 its signal
--          3 our record of the lock: the last token, the last of our claims that had to wait and until when, and the
--            claim that was detached
--          4 the claim's mark: 'waits' or, while it has the lock, 'TOKEN'; then 'released TOKEN' or 'ended'. The mark
--            outlives the claim by at least the longest TTL that the claim had
-- ARGV     1 the claim as the layout calls it  2 its token, '0' at first  3 TTL in ms  4 keep the record for ms
--          5 '1' if it waits when the lock is taken  6 '1' if it is detached
-- Returns  {'granted', TOKEN, '1' if one of ours waits, TTL in ms}, {'taken', ms until the lock ends, 0 if it has no
--          end} or {'gone'}
local call = redis.call

--layout

local clock = call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local record = call('HMGET', KEYS[3], 'token', 'waiter', 'until', 'alone')
local mark = call('GET', KEYS[4])
local lives = ARGV[3]

-- granted is the answer to the claim that has the lock.
local function granted()
  local waits = record[2] and record[2] ~= ARGV[1] and (tonumber(record[3]) or 0) > micros
  return {'granted', mark, waits and '1' or '0', tostring(lives)}
end

-- note sets the mark. A shorter TTL than before does not shorten its life: a request with the longer TTL may still be
-- under way.
local function note(value)
  call('SET', KEYS[4], value, 'PX', math.max(ARGV[3] * 2, call('PTTL', KEYS[4])))
end

if mark and mark ~= 'waits' then
  if string.find(mark, '^%d') == nil or ARGV[2] ~= '0' and ARGV[2] ~= mark then return {'gone'} end
  if not is_ours() then
    note('ended')
    return {'gone'}
  end
  if record[4] == ARGV[1] and ARGV[6] ~= '1' then -- it was detached after this was sent: nothing changes
    lives = math.max(call('PTTL', KEYS[1]), 1)
    return granted()
  end
  call('PEXPIRE', KEYS[1], ARGV[3])
elseif ARGV[2] ~= '0' then
  return {'gone'}
elseif call('EXISTS', KEYS[1]) == 1 then
  if ARGV[5] == '1' then
    call('SET', KEYS[4], 'waits', 'PX', ARGV[3])
    call('HSET', KEYS[3], 'waiter', ARGV[1], 'until', string.format('%.0f', micros + ARGV[3] * 1000))
    call('PEXPIRE', KEYS[3], ARGV[4])
  end
  local left = call('PTTL', KEYS[1])
  return {'taken', tostring(left < 0 and 0 or math.max(left, 1))}
else
  mark = string.format('%.0f', math.max((tonumber(record[1]) or 0) + 1, micros))
  take()
  call('HSET', KEYS[3], 'token', mark)
  call('HDEL', KEYS[3], 'alone')
end
if ARGV[6] == '1' then call('HSET', KEYS[3], 'alone', ARGV[1]) end
call('PEXPIRE', KEYS[3], ARGV[4])
note(mark)
return granted()
