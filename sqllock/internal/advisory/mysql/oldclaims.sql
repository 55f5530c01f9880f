-- Returns at most 200 claims that ended or no longer wait, and of which no late request can come any more.
SELECT name, id, state = 'waiting' FROM holdfast_session_claims WHERE until < {now} LIMIT 200;
