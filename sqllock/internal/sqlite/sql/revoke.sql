-- Marks a claim whose holder is asked to let go. Takes name and token, returns nothing.
UPDATE holdfast_claims SET revoked = 1 WHERE name = ? AND token = ?;
