-- Makes the next token of a lock: greater than all before, and no less than the wall clock. Takes the name and the wall
-- clock in microseconds, returns the token.
INSERT INTO holdfast_fences (name, token) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET token = max(token + 1, excluded.token)
RETURNING token;
