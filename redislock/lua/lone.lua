-- A lone claim has its lock with nobody behind it, and nothing on the server but the value of KEY says so:
--   'FORMAT h|s TOKEN ID ABOUT'
-- So it takes few calls, and leaves nothing behind. The client that asks for one knows that no other copy of its
-- request is under way, and LAST_TOKEN has its token. There are no CLAIMS beside it: whatever else happens to the lock
-- unfolds it first, see unfold.lua.

-- is_lone reports whether the value of KEY is that of this claim.
local function is_lone(value, id, token)
  return value and string.sub(value, TOKEN_AT, LONE_ID_AT + #id) == token .. ' ' .. id .. ' '
    and string.find(value, '^FORMAT [hs] ')
end
