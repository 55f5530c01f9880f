-- Hangs up the bells of a claim: locks that the session of its client holds, so that others can wait until they are let
-- go. It comes last in a transaction, since a session keeps these locks when the transaction fails. Takes name and ID.
CREATE FUNCTION holdfast1_hang(p_name bytea, p_id text) RETURNS void LANGUAGE sql AS $$
	SELECT pg_try_advisory_lock(holdfast1_bell(p_id, 'end'));
	SELECT pg_try_advisory_lock(holdfast1_bell(p_id, 'wait'))
	FROM holdfast_claims WHERE name = p_name AND id = p_id AND NOT granted AND weight < units;
$$;
