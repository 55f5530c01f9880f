-- as_text writes the answer of TIME in µs, always with 16 digits: numbers print slowly.
local function as_text(clock)
  return clock[1] .. (#clock[2] == 6 and clock[2] or string.sub('00000' .. clock[2], -6))
end
