-- Moves the claims that are left to the clock of another boot. Takes by how much it is ahead, and what it says; returns
-- nothing. No claim lives for longer than for its TTL from now on.
UPDATE holdfast_claims SET deadline = min(deadline + ?, ? + ttl);
