-- Makes the next token of a lock: greater than all before, and no less than the wall clock. The clock is in it so
-- that tokens grow on even after the row of a lock was forgotten. Takes the name and the least that the token may be,
-- returns the token.
INSERT INTO holdfast_fences (name, token) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET token = max(token + 1, excluded.token)
RETURNING token;
