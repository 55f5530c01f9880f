-- above_all returns a token, or a greater one: one that is greater than all tokens that were given out for any lock by
-- earlier scripts. The greatest is under the key LAST_TOKEN, without an end. So the tokens of a lock grow though nothing
-- is remembered of it and the clock was set back. Locks that one script grants may get the same token.
--
-- Under FIRST_TOKEN is the token with which the server began to keep the greatest. So claims with smaller ones are from
-- before it has lost its data.
--
-- is_apart says that there is no such key, as in a cluster, or that the server does not let this user write it. Then a
-- lock's own keys must remember its last token for longer. A file that includes this one has set call.
local is_apart = not LAST_TOKEN
local before, top -- the greatest token when this script began, and now; nil until a script asks for it
local function above_all(token)
  if is_apart then return token end
  if not top then
    local was = redis.pcall('SET', LAST_TOKEN, token, 'GET')
    if type(was) == 'table' then
      is_apart = true
      return token
    end
    if not was then redis.pcall('SET', FIRST_TOKEN, token) end
    before, top = was and #was == 16 and tonumber(was) and was <= '9007199254740991' and was or '', token
  end
  if token <= before then token = string.format('%016.0f', before + 1) end
  if token > top then
    call('SET', LAST_TOKEN, token)
    top = token
  end
  return token
end
