-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, whether it was
-- released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays.
CREATE FUNCTION holdfast1_finish(p_name bytea, p_id text, p_released boolean, p_now bigint, p_most bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_claim record;
BEGIN
	DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline <= p_most
	RETURNING token, ttl INTO v_claim;
	IF FOUND THEN
		PERFORM holdfast1_bar(p_name, p_id, v_claim.token, p_released, p_now + v_claim.ttl);
	END IF;
END
$$;
