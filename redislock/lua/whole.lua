-- What the slow half of every script works on, and what it does when that contradicts itself. A script that includes
-- this file has set before:
--   call    redis.call
--   clock   the answer of TIME, or nil
--   state   field '~' of the claims hash, or false
--   value   the value of KEY, or nil when it was not read
--   keep    how long, in ms, the claims must outlive their last use, where that is longer than KEEP; or nil
--   budget  how many claims it may end, grant or correct, because the server does nothing else meanwhile. The rest is
--           left to the next script
-- It gives its work to whole(), as a function that begins with claims.lua. Beside the variables below, the functions of
-- claims.lua would take twice as long to make. Lua 5.1 looks for each variable that a new function uses among all of
-- the function around it (luaF_findupval), and takes those from further out as they are.
local match, floor = string.match, math.floor
local KEY, CLAIMS, ORDER, EXPIRY = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local SHARED = '~shared'
clock = clock or call('TIME')
local now = clock[1] * 1000 + floor(clock[2] / 1000)
local micros = clock[1] * 1000000 + clock[2]
if value == nil then value = call('GET', KEY) end -- before anything is written: it fails when KEY is not a string
--include unfold.lua
if not state then state, value = unfold(value) end
local foreign                  -- the value, when it is another client's
local q                        -- the state
local apart = false            -- whether LAST_TOKEN may not have the tokens of the lock, see above_all.lua
local mail = {}                -- what is told when all is written: address and message of each
local last_lost = 0            -- the greatest token in what was thrown away

-- What this script knows already, since each call of the server costs as much as many lines of Lua.
local known = {}               -- the claims that it has read or written, by ID
local head                     -- the ID of the first claim that waits; nil when that is to be looked up
local printed = {}             -- the texts of tokens and the like that it has read or printed: numbers print slowly
local newest                   -- the ID of the claim that it has added; nil when it has added none

-- broken ends work on keys that contradict each other; see whole.
local function broken(what) error('broken: ' .. what, 0) end

-- clear empties the order and the expiry, which mean nothing unless the state is a queue, and returns the greatest
-- token in them. They hold something then if the claims were deleted without them.
local function clear()
  local last = call('ZRANGE', ORDER, -1, -1, 'WITHSCORES')[2]
  if last or call('ZRANGE', EXPIRY, 0, 0)[1] then call('DEL', ORDER, EXPIRY) end
  return tonumber(last or 0)
end

-- throw_away ends all claims. KEY stays: whoever holds the lock by it is safe until it expires, because it counts as
-- another client's.
local function throw_away()
  local last = tonumber(match(state or '', '^%d+ %a (%d+)') or 0)
  last_lost = math.max(last <= 9007199254740991 and last or 0, clear())
  call('DEL', CLAIMS)
  state, value, foreign, mail = false, call('GET', KEY), nil, {}
  known, head, newest = {}, nil, nil
end

-- whole does the work of a script. Keys contradict each other if some of them expired, were deleted or were restored
-- without the others. The work would then fail for ever, so the keys are thrown away and the work is done again. An
-- error of the server, of which pcall returns the text, is an answer, and nothing is thrown away.
local function whole(work)
  local done, result = pcall(work)
  if done then return result end
  local text = type(result) == 'table' and result.err or result
  if not match(text, '^broken: ') and not match(text, '^user_script:%d+: ') then error(redis.error_reply(text)) end
  redis.log(redis.LOG_WARNING, 'holdfast makes ' .. CLAIMS .. ' anew: ' .. text)
  throw_away()
  return work()
end
