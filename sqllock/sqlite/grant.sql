-- Marks a claim as granted. Takes name and token.
UPDATE holdfast_claims SET granted = 1 WHERE name = ? AND token = ?;
