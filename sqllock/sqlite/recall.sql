-- Reads how a claim ended. Takes name, ID, boot and now.
SELECT token, released FROM holdfast_ended WHERE name = ? AND id = ? AND boot = ? AND until > ?;
