-- Forgets the tokens of locks that were not used for long: the clock in the next token keeps it greater. Takes the
-- microseconds before which they were used last.
DELETE FROM holdfast_fences WHERE token < ? AND name NOT IN (SELECT name FROM holdfast_claims);
