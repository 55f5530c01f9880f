-- Moves the deadlines of the claims that are left to the clock of another boot. Takes how far that clock is ahead,
-- and its time; returns nothing. The bound is there because the difference may be a guess: no claim lives longer than
-- its TTL from now on.
UPDATE holdfast_claims SET deadline = min(deadline + ?, ? + ttl);
