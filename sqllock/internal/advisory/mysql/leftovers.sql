-- Returns at most 200 claims that ended or no longer wait, and of which no late request can come any more; and at most
-- 200 locks that are free and whose last token is old. Those that tell are reported.
(SELECT 'expired claim', name, id, state = 'waiting' AS tell FROM holdfast_session_claims WHERE until < {now} LIMIT 200)
UNION ALL
(SELECT 'last token', name, '', TRUE FROM holdfast_sessions WHERE token < {now} - {keep} AND {free} LIMIT 200);
