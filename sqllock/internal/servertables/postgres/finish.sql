-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, whether it was
-- released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays. A note that bars it
-- for longer stays as long.
CREATE FUNCTION holdfast1_finish(p_name bytea, p_id text, p_released boolean, p_now bigint, p_most bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_until bigint;
BEGIN
	WITH taken AS (
		DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline <= p_most RETURNING token, ttl
	)
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT p_name, p_id, token, p_released, p_now + ttl FROM taken
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = greatest(holdfast_ends.deadline, excluded.deadline)
	RETURNING deadline INTO v_until;
	IF FOUND THEN
		PERFORM holdfast1_bar(p_name, p_now, v_until);
	END IF;
END
$$;
