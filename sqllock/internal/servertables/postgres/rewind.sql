-- Brings back deadlines that are further ahead than a TTL, because the clock was set back since the claims were renewed. It was
-- renewed before now, so none of them ends earlier than its holder believes. It reads the clock anew for each row: who has just
-- renewed one was there before. Takes name, and which claims: those that are granted, or those that wait; 200 at most, from the
-- front on.
CREATE FUNCTION holdfast1_rewind(p_name bytea, p_granted boolean) RETURNS void LANGUAGE sql AS $$
	UPDATE holdfast_claims SET deadline = holdfast1_now() + ttl
	WHERE name = p_name AND deadline - ttl > holdfast1_now() AND id = ANY (ARRAY(
		SELECT id FROM holdfast_claims WHERE name || '' = p_name AND granted = p_granted AND deadline - ttl > holdfast1_now()
		ORDER BY token LIMIT 200
	))
$$;
