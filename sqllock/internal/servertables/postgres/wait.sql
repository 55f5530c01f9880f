-- Waits until a claim is granted or has ended, or until it is time to ask again. While one claim alone decides that, this
-- sleeps until that claim's bell rings. Takes name, ID, how long to wait, and whether there are bells. Returns an answer (0 the
-- state follows, 1 gone, 2 ask again, 3 nothing new) and the state. Of a claim that is granted it says that others wait if any
-- was queued behind it.
--
-- A transaction keeps its snapshot until it ends, and CREATE INDEX CONCURRENTLY on any table of the database waits for it. So
-- this waits for at most 0.8 seconds, however long its caller wants to wait. That is also less than a second, after which servers
-- log slow statements, and less than deadlock_timeout, after which they log who waits. It sleeps without any lock on a table,
-- which VACUUM FULL, ALTER TABLE and a migration would wait for: each look at the tables is a subtransaction that is rolled back,
-- since its locks end with it.
CREATE FUNCTION holdfast1_wait(p_name bytea, p_id text, p_limit bigint, p_bells boolean)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT SET client_min_messages = error AS $$
#variable_conflict use_column
DECLARE
	v_now   bigint := holdfast1_now();
	v_began bigint := v_now;
	v_end   bigint := v_now + least(p_limit, 800000);
	v_claim record;
	v_other record;
	v_ahead bigint; -- the token of the claim right ahead
	v_bell  bigint;
	v_rung  bigint; -- a bell that nobody holds, though the claim is there
	v_pause bigint;
	v_most  bigint := 800 * extract(epoch FROM current_setting('deadlock_timeout')::interval); -- milliseconds
BEGIN
	answer := 3;
	LOOP
		BEGIN
			SELECT c.token, c.granted OR l.released IS NOT DISTINCT FROM v_ahead AS granted, c.weight, c.units, c.ttl, c.revoked,
				l.released, l.head, l.token > c.token AS behind INTO v_claim
			FROM holdfast_locks l, holdfast_claims c
			WHERE l.name = p_name AND c.name = p_name AND c.id = p_id AND c.deadline > v_now;
			IF NOT FOUND THEN
				answer := 1;
			ELSIF v_claim.granted THEN
				RETURN QUERY SELECT 0, v_claim.token, true, v_claim.ttl, 0::bigint, v_claim.behind, v_claim.revoked;
				RETURN;
			ELSIF v_claim.released > 0 AND (v_rung IS NOT NULL OR v_now >= v_end) THEN
				answer := 2; -- it may be granted by who carries that release out
			END IF;
			EXIT WHEN answer <> 3 OR v_now >= v_end;

			SELECT id, token, weight, units, deadline AS until INTO v_other FROM holdfast_claims
			WHERE name || '' = p_name AND NOT granted AND token >= v_claim.head AND token < v_claim.token AND deadline > v_now
			ORDER BY token DESC LIMIT 1;
			IF FOUND AND v_other.weight < v_other.units THEN -- its grant may be this claim's, too
				v_bell := holdfast1_bell(v_other.id, 'wait');
			ELSIF FOUND THEN
				v_bell := holdfast1_bell(v_other.id, 'end');
			ELSE
				SELECT count(*) AS holders, min(deadline) AS until, max(id) AS id, max(token) AS token,
					coalesce(sum(weight), 0) + v_claim.weight <= least(min(units), v_claim.units) AS room INTO v_other
				FROM holdfast_claims WHERE name || '' = p_name AND granted AND token >= v_claim.head AND token < v_claim.token;
				IF v_other.room OR v_other.until <= v_now THEN -- it was granted a moment ago, or will be when somebody asks
					CONTINUE WHEN (SELECT granted FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline > v_now);
					answer := 2;
					EXIT;
				END IF;
				v_bell := holdfast1_bell(v_other.id, 'end');
				IF v_other.holders > 1 AND v_claim.weight < v_claim.units THEN -- any of them may make room
					v_bell := NULL;
				END IF;
			END IF;
			v_ahead := v_other.token;
			IF EXISTS ( -- one that has expired: it is granted first, if the clock is set back
				SELECT FROM holdfast_claims
				WHERE name || '' = p_name AND NOT granted AND token > v_other.token AND token < v_claim.token
			) THEN
				v_ahead := NULL;
			END IF;
			v_pause := greatest(1, least(v_most, 1 + (v_other.until - v_now) / 1000, 1 + (v_end - v_now) / 1000));
			RAISE SQLSTATE 'HF002'; -- it lets go of the tables
		EXCEPTION WHEN SQLSTATE 'HF002' THEN NULL;
		END;

		IF p_bells AND v_bell IS DISTINCT FROM v_rung AND v_bell IS NOT NULL THEN
			BEGIN
				PERFORM set_config('lock_timeout', v_pause::text, true);
				PERFORM pg_advisory_lock_shared(v_bell);
				PERFORM pg_advisory_unlock_shared(v_bell);
				v_rung := v_bell;
			EXCEPTION WHEN lock_not_available THEN
				v_rung := NULL;
			END;
		ELSE
			PERFORM pg_sleep(least(v_pause, 20, 1 + (v_now - v_began) / 4000) / 1000.0); -- longer and longer
			v_rung := NULL;
		END IF;
		v_now := holdfast1_now();
	END LOOP;
	RETURN QUERY SELECT answer, 0::bigint, false, 0::bigint, 0::bigint, false, false;
END
$$;
