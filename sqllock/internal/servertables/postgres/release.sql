-- Releases a claim, and rings its bells. One that has the lock to itself is in the row of the lock, which keeps its ID. One that
-- has it with others behind it stays where it is, and its release is only noted
-- in the row of the lock: from then on it has ended, and the next one has the lock, though its row does not say so yet.
-- Whoever enters the queue next carries that out; 200 are noted at most, so that this does not take long. Any other claim goes
-- the longer way, withdraw. Takes name, ID, token or 0, TTL, and how many bells it has in this session: the first is for its
-- end, the second for its grant. Returns 0, or 1 when it had ended otherwise.
CREATE FUNCTION holdfast1_release(p_name bytea, p_id text, p_token bigint, p_ttl bigint, p_bells bigint)
RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_answer integer := 0;
	v_now    bigint := holdfast1_now();
BEGIN
	UPDATE holdfast_locks SET id = '', ended = id, under = token, barred = greatest(barred, v_now + ttl)
	WHERE name = p_name AND id = p_id AND token = p_token AND deadline > v_now;
	IF FOUND AND p_bells = 0 THEN
		RETURN 0;
	ELSIF NOT FOUND THEN
		PERFORM FROM holdfast_locks WHERE name = p_name AND token > p_token FOR UPDATE; -- and then look at what is committed
		IF FOUND THEN
			UPDATE holdfast_locks l SET released = p_token, noted = noted + 1 FROM holdfast_claims c
			WHERE l.name = p_name AND l.released < p_token AND l.noted < 200
				AND c.name = p_name AND c.id = p_id AND c.token IS NOT DISTINCT FROM p_token AND c.weight = c.units AND c.deadline > holdfast1_now()
				AND (c.granted OR l.released > 0 AND NOT EXISTS (
					SELECT FROM holdfast_claims w
					WHERE w.name || '' = p_name AND NOT w.granted AND w.token > l.released AND w.token < p_token
				));
		END IF;
		IF NOT FOUND THEN
			v_answer := holdfast1_withdraw(p_name, p_id, p_token, p_ttl);
		END IF;
	END IF;
	IF p_bells > 0 THEN
		PERFORM holdfast1_ring(p_id, 'end');
	END IF;
	IF p_bells > 1 THEN
		PERFORM holdfast1_ring(p_id, 'wait');
	END IF;
	RETURN v_answer;
END
$$;
