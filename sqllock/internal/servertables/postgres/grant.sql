-- Grants what is grantable at the front of a queue, whose row is locked, and takes waiting claims that are dead out of it. It
-- reads no further than the first claim that has to wait, and than 200 claims. Takes name, now, a token that those of the
-- waiting claims are greater than, the units that are granted, and the least limit among those claims. Returns the last two
-- anew and, where there is room for more, whether a claim waits: null where it stopped before it knew. The rows of claims that
-- were granted while somebody's snapshot is older are dead, but in the way: from the token on there are few of them.
CREATE FUNCTION holdfast1_grant(
	p_name bytea, p_now bigint, p_after bigint, INOUT o_sum bigint, INOUT o_limit bigint, OUT o_waits boolean
) LANGUAGE plpgsql AS $$
DECLARE
	v_claim record;
	v_dead  record;
	v_most  bigint := 200;
BEGIN
	o_waits := true;
	WHILE o_sum < o_limit LOOP
		IF v_most <= 0 THEN
			o_waits := NULL;
			EXIT;
		END IF;
		SELECT id, token, weight, units, deadline INTO v_claim
		FROM holdfast_claims WHERE name || '' = p_name AND NOT granted AND token > p_after ORDER BY token LIMIT 1;
		o_waits := FOUND;
		EXIT WHEN NOT o_waits;
		IF v_claim.deadline <= p_now THEN
			SELECT * INTO v_dead FROM holdfast1_bury(p_name, p_now, false, p_after, v_most);
			v_most := v_most - greatest(1, v_dead.o_dead);
			IF v_dead.o_taken = v_dead.o_dead THEN
				p_after := v_dead.o_last;
			END IF;
			CONTINUE;
		END IF;
		EXIT WHEN o_sum + v_claim.weight > least(o_limit, v_claim.units);
		UPDATE holdfast_claims SET granted = true WHERE name = p_name AND id = v_claim.id;
		p_after := v_claim.token;
		v_most := v_most - 1;
		o_sum := o_sum + v_claim.weight;
		o_limit := least(o_limit, v_claim.units);
	END LOOP;
	-- Of those that wait it looks at the first that lives, as place does: who is told to ask must find something done.
	IF o_waits AND (
		SELECT deadline - ttl > p_now FROM holdfast_claims
		WHERE name || '' = p_name AND NOT granted AND token > p_after AND deadline > p_now ORDER BY token LIMIT 1
	) THEN
		PERFORM holdfast1_rewind(p_name, false);
	END IF;
END
$$;
