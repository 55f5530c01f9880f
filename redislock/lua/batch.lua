-- Does what many claims ask for at about the same time, one after the other: one script for all takes the server less
-- time than one for each.
-- KEYS     for each claim those of its lock
-- ARGV     the claims, in groups: 'h' or 's' as in request.lua, how many claims, their TTL in ms, their ABOUT, and
--          the ID of each; or 'r', how many claims, and the ID and token of each as in release.lua
-- Returns  for each claim what request.lua or release.lua returns, or '!' and the text of the error that it ends with
local call = redis.call

--include as_text.lua
--include grant_alone.lua
--include release_alone.lua

local function request(KEYS, ARGV)
  --include request.lua
end

local function release(KEYS, ARGV)
  --include release.lua
end

local micros = as_text(call('TIME'))
local out, claims = {}, 0 -- the answers, and to how many claims
local at, key = 1, 1      -- what comes next in ARGV and KEYS
local kind, ttl, about    -- the group
local left = 0            -- how many of its claims are left

local function next_group()
  kind, left, at = ARGV[at], ARGV[at + 1] + 0, at + 2
  if kind ~= 'r' then
    ttl, about, at = ARGV[at], ARGV[at + 1], at + 2
  end
end

-- next_claim tries first what is asked for most often. Where that does not apply, the whole script looks at the claim.
local function next_claim()
  local KEY, CLAIMS, ORDER, EXPIRY, id = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], ARGV[at]
  claims, left, key, at = claims + 1, left - 1, key + 4, at + 1
  if kind == 'r' then
    local token = ARGV[at]
    at = at + 1
    return release_alone(KEY, CLAIMS, call('HGET', CLAIMS, '~'), id, token)
      or release({KEY, CLAIMS, ORDER, EXPIRY}, {id, token})
  end
  return grant_alone(KEY, CLAIMS, call('HGET', CLAIMS, '~'), micros, micros, id, kind, ttl, about)
    or request({KEY, CLAIMS, ORDER, EXPIRY}, {id, kind, ttl, about})
end

local function all()
  while key <= #KEYS do
    if left == 0 then next_group() end
    local answer = next_claim() -- which counts it
    out[claims] = answer
  end
end

repeat -- an error is that of one claim; the others go on
  local before = claims
  local went, failure = pcall(all)
  if not went then
    if claims == before then error(failure) end -- it is that of none
    out[claims] = '!' .. (type(failure) == 'table' and failure.err or tostring(failure))
  end
until went
return out
