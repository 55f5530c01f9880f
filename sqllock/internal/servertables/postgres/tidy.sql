-- Takes dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, and how many to take out
-- at most. Returns how many had expired of those that were taken out: not those of releases that were only noted.
CREATE FUNCTION holdfast1_tidy(p_name bytea, p_most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now     bigint;
	v_expired bigint;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT count(*) INTO v_expired FROM (
		SELECT FROM holdfast_claims
		WHERE name || '' = p_name AND granted IN (false, true) AND deadline <= v_now LIMIT p_most
	) e;
	PERFORM holdfast1_finish(p_name, d.id, false, v_now, v_now)
	FROM (SELECT id FROM holdfast_claims WHERE name || '' = p_name AND deadline <= v_now ORDER BY token LIMIT p_most) d;
	PERFORM holdfast1_settle(p_name, v_now);
	RETURN v_expired;
END
$$;
