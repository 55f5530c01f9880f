-- Remembers how a claim ended, so that a late copy of its request finds out. Takes name, ID, token, whether it was
-- released, and until when to remember.
CREATE FUNCTION holdfast1_bar(p_name bytea, p_id text, p_token bigint, p_released boolean, p_deadline bigint)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	VALUES (p_name, p_id, p_token, p_released, p_deadline)
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = excluded.deadline
$$;
