-- Returns claims that wait no more or ended, when no late request can come: 200 at most.
SELECT name, id, state = 'waiting' FROM holdfast_session_claims WHERE until < {now} LIMIT 200;
