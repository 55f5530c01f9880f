-- Makes the next token of a lock, greater than all before and than the wall clock's microseconds, and returns it. Takes
-- the name and the microseconds.
INSERT INTO holdfast_fences (name, token) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET token = max(token + 1, excluded.token)
RETURNING token;
