-- Hangs up the bells of a claim: locks that the session of its client holds, so that others can wait until they are let
-- go. It comes last in a transaction, since a session keeps these locks when the transaction fails. Takes ID, and whether
-- the claim waits and may share its lock, so that its grant concerns others, too.
CREATE FUNCTION holdfast1_hang(p_id text, p_shares boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_try_advisory_lock(holdfast1_bell(p_id, 'end'));
	IF p_shares THEN
		PERFORM pg_try_advisory_lock(holdfast1_bell(p_id, 'wait'));
	END IF;
END
$$;
