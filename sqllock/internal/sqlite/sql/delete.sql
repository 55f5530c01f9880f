-- Takes a claim out of its queue. Takes name and token, returns nothing.
DELETE FROM holdfast_claims WHERE name = ? AND token = ?;
