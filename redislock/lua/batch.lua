-- Does what many claims ask for at about the same time, one after the other: one script for all takes the server less
-- time than one for each.
-- KEYS     for each claim those of its lock
-- ARGV     the claims, in groups. A group begins with what is done and how many claims follow; arguments that they
--          share are next, and then those of each:
--            'h', 's', 'H' or 'S' as in request.lua, TTL in ms, ABOUT                       ID
--            'n' to renew, TTL, ABOUT                                             ID, token
--            'p' to propose, TTL, ABOUT, and 5 and 6 of propose.lua               ID, token
--            'r' to release                                                       ID, token
-- Returns  for each claim what the script for it alone returns, or '!' and the text of the error that it ends with
local call = redis.call

--include as_text.lua
--include above_all.lua
--include request_alone.lua
--include release_alone.lua
--include renew_alone.lua

local function request(KEYS, ARGV)
  --include request.lua
end

local function release(KEYS, ARGV)
  --include release.lua
end

local function propose(KEYS, ARGV)
  --include propose.lua
end

local micros = as_text(call('TIME'))
local out, claims = {}, 0 -- the answers, and to how many claims
local at, key = 1, 1      -- what comes next in ARGV and KEYS
local kind, ttl, about    -- the group
local holds, ahead        -- of proposals
local left = 0            -- how many of its claims are left

local function argument()
  at = at + 1
  return ARGV[at - 1]
end

local function next_group()
  kind, left = argument(), argument() + 0
  if kind ~= 'r' then ttl, about = argument(), argument() end
  if kind == 'p' then holds, ahead = argument(), argument() end
end

local function its_keys() return {unpack(KEYS, key - 4, key - 1)} end

-- next_claim tries first what is asked for most often. Where that does not apply, the whole script looks at the claim.
local function next_claim()
  local KEY, CLAIMS, id = KEYS[key], KEYS[key + 1], argument()
  local first = kind ~= 'r' and kind ~= 'n' and kind ~= 'p'
  local token = first and kind or argument()
  claims, left, key = claims + 1, left - 1, key + 4 -- before anything can fail: the next claim goes on from there
  if kind == 'p' then return propose(its_keys(), {id, token, ttl, about, holds, ahead}) end
  if kind == 'r' then
    return release_alone(KEY, CLAIMS, id, token) or release(its_keys(), {id, token})
  end
  return (first and request_alone or renew_alone)(KEY, CLAIMS, micros, id, token, ttl, about)
    or request(its_keys(), {id, token, ttl, about})
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
