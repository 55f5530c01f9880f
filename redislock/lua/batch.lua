-- Does what many claims ask for at about the same time, one after the other: one script for all takes the server less
-- time than one for each.
-- KEYS     for each claim those of its lock
-- ARGV     the claims, in groups. A group begins with what is done and how many claims follow; arguments that they
--          share are next, and then those of each:
--            'h', 's', 'H' or 'S' as in request.lua, TTL in ms, ABOUT             ID
--            'n' to renew, TTL, ABOUT                                             ID, token
--            'p' to propose, TTL, ABOUT, and 5 and 6 of propose.lua               ID, token
--            'r' to release                                                       ID, token
-- Returns  for each claim what the script for it alone returns, or '!' and the text of the error that it ends with
local call = redis.call

--include as_text.lua
--include above_all.lua
--include lone.lua
--include grant_lone.lua
--include grant_alone.lua
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
local are_new = false     -- whether it asks for locks that have no claims
local released            -- those of its claims that were released with it, as it begins, by how many were left

local function argument()
  at = at + 1
  return ARGV[at - 1]
end

-- keys_of_group lists a key of each lock of a group that begins: the lock, or its claims.
local function keys_of_group(first)
  local keys = {}
  for i = 1, left do keys[i] = KEYS[first + 4 * (i - 1)] end
  return keys
end

-- release_lone_claims releases the lone claims of a group that begins: two calls do for all of them. Where the server
-- refuses one of these, each claim is released by itself.
local function release_lone_claims()
  local keys, ends = keys_of_group(key), {}
  local values = redis.pcall('MGET', unpack(keys))
  released = {}
  for i = 1, left do
    if is_lone(values[i], ARGV[at + 2 * i - 2], ARGV[at + 2 * i - 1]) then
      ends[#ends + 1] = keys[i]
      released[left + 1 - i] = true
    end
  end
  if #ends > 0 and type(redis.pcall('DEL', unpack(ends))) == 'table' then released = {} end
end

local function next_group()
  kind, left = argument(), argument() + 0
  if kind == 'r' then return release_lone_claims() end
  ttl, about = argument(), argument()
  if kind == 'p' then holds, ahead = argument(), argument() end
  are_new = (kind == 'H' or kind == 'S') and redis.pcall('EXISTS', unpack(keys_of_group(key + 1))) == 0
end

local function its_keys() return {unpack(KEYS, key - 4, key - 1)} end

-- grant_new tries grant_lone, and then grant_alone. A claim that grant_lone does not grant may be queued, and another one
-- of its group may be for the same lock, so are_new ends with it.
local function grant_new(KEY, CLAIMS, id)
  local state = not are_new and call('HGET', CLAIMS, '~')
  local granted = not state and grant_lone(KEY, micros, id, kind, ttl, about)
  if granted then return granted end
  are_new = false
  return grant_alone(KEY, CLAIMS, state, micros, micros, id, string.lower(kind), ttl, about)
end

-- next_claim tries first what is asked for most often. Where that does not apply, the whole script looks at the claim.
local function next_claim()
  local KEY, CLAIMS, id = KEYS[key], KEYS[key + 1], argument()
  local first = kind ~= 'r' and kind ~= 'n' and kind ~= 'p'
  local token = first and kind or argument()
  local is_released = kind == 'r' and released[left]
  claims, left, key = claims + 1, left - 1, key + 4 -- before anything can fail: the next claim goes on from there
  if is_released then return 'ok' end
  if kind == 'p' then return propose(its_keys(), {id, token, ttl, about, holds, ahead}) end
  if kind == 'r' then return release_alone(KEY, CLAIMS, id, token) or release(its_keys(), {id, token}) end
  local done = first and grant_new(KEY, CLAIMS, id)
  if not first then done = renew_alone(KEY, CLAIMS, micros, id, token, ttl, about) end
  return done or request(its_keys(), {id, token, ttl, about})
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
