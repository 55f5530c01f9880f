-- Marks a claim as granted. Takes name and token, returns nothing.
UPDATE holdfast_claims SET granted = 1 WHERE name = ? AND token = ?;
