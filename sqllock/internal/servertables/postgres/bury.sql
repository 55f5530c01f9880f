-- Takes claims that have expired out of a queue, whose row is locked, and bars their IDs: of those that are granted any, and
-- of those that wait the ones ahead of all that live. Takes name, now, which of both, a token that theirs are greater than, and how
-- many to look at. Returns how many there were, how many of them it has taken, since one may have been renewed meanwhile, and
-- the last token.
CREATE FUNCTION holdfast1_bury(
	p_name bytea, p_now bigint, p_granted boolean, p_after bigint, p_most bigint,
	OUT o_dead bigint, OUT o_taken bigint, OUT o_last bigint
) LANGUAGE plpgsql AS $$
DECLARE
	v_until bigint;
BEGIN
	WITH page AS (
		SELECT id, token, deadline FROM holdfast_claims
		WHERE name || '' = p_name AND granted = p_granted AND token > p_after AND (NOT p_granted OR deadline <= p_now)
		ORDER BY token LIMIT p_most
	), dead AS (
		SELECT id, token FROM page
		WHERE token < coalesce((SELECT min(token) FROM page WHERE deadline > p_now), 9223372036854775807)
	), taken AS (
		DELETE FROM holdfast_claims WHERE name = p_name AND id = ANY (ARRAY(SELECT id FROM dead)) AND deadline <= p_now
		RETURNING id, token, ttl
	), barred AS (
		INSERT INTO holdfast_ends (name, id, token, released, deadline)
		SELECT p_name, id, token, false, p_now + ttl FROM taken
		ON CONFLICT (name, id) DO UPDATE SET token = excluded.token, released = excluded.released,
			deadline = greatest(holdfast_ends.deadline, excluded.deadline)
		RETURNING deadline
	)
	SELECT count(*), (SELECT count(*) FROM taken), coalesce(max(token), p_after), (SELECT max(deadline) FROM barred)
	INTO o_dead, o_taken, o_last, v_until FROM dead;
	IF v_until IS NOT NULL THEN
		PERFORM holdfast1_bar(p_name, p_now, v_until);
	END IF;
END
$$;
