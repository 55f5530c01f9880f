-- Makes the front of a queue, whose row is locked, what it should be: dead claims leave it, and what becomes grantable is
-- granted. One call takes out 200 claims at most, or grants them. Takes name and now. Returns the units that are granted, the
-- least limit among those claims, and whether a claim waits: null where there is more to do, for which to call it again. Rows
-- that are dead, and kept since somebody's snapshot is older, are mostly ahead of the head, where it does not look.
CREATE FUNCTION holdfast1_settle(p_name bytea, p_now bigint, OUT o_sum bigint, OUT o_limit bigint, OUT o_waits boolean)
LANGUAGE plpgsql AS $$
DECLARE
	v_head  bigint;
	v_until bigint;
	v_since bigint; -- the latest renewal
	v_last  bigint; -- the greatest token that is granted
	v_most  bigint := 200;
	v_done  bigint;
BEGIN
	SELECT head INTO v_head FROM holdfast_locks WHERE name = p_name;
	LOOP
		SELECT coalesce(sum(weight), 0), coalesce(min(units), 2147483647), min(deadline), max(deadline - ttl),
			coalesce(max(token), v_head - 1)
		INTO o_sum, o_limit, v_until, v_since, v_last
		FROM holdfast_claims WHERE name || '' = p_name AND granted AND token >= v_head;
		IF v_since > p_now THEN
			PERFORM holdfast1_rewind(p_name, true);
		END IF;
		EXIT WHEN v_until IS NULL OR v_until > p_now;
		IF v_most <= 0 THEN
			RETURN;
		END IF;
		SELECT o_dead INTO v_done FROM holdfast1_bury(p_name, p_now, true, v_head - 1, v_most);
		v_most := v_most - greatest(1, v_done);
	END LOOP;
	SELECT * INTO o_sum, o_limit, o_waits FROM holdfast1_grant(p_name, p_now, v_last, o_sum, o_limit);
END
$$;
