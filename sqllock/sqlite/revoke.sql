-- Marks a claim as revoked. Takes name and token.
UPDATE holdfast_claims SET revoked = 1 WHERE name = ? AND token = ?;
