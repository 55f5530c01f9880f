-- Takes all dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, returns 0.
CREATE FUNCTION holdfast1_tidy(p_name bytea) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now bigint;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	PERFORM holdfast1_finish(p_name, d.id, false, v_now, v_now)
	FROM (SELECT id FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token) d;
	PERFORM holdfast1_settle(p_name, v_now);
	RETURN 0;
END
$$;
