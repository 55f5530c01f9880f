-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, which is negative if the
-- claim is left alone, with spaces between them and sorted by name and token, and whether to renew. Returns for each line an
-- answer (0 the state follows, 1 gone, 3 nothing is known, 4 as request does) and the state. Where somebody has a row locked it
-- does not wait, since the other claims have nothing to do with that: of this one nothing is known.
CREATE FUNCTION holdfast1_renew(p_claims text, p_extend boolean)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_part  text[];
	v_name  bytea;
	v_last  bytea;
	v_busy  bytea; -- the latest lock of which nothing is known
	v_id    text;
	v_token bigint;
	v_ttl   bigint;
	v_alone boolean;
	v_had   bigint;
	v_now   bigint;
	v_lock  record;
	v_claim record;
BEGIN
	FOR v_part IN SELECT string_to_array(line, ' ') FROM unnest(string_to_array(p_claims, E'\n')) WITH ORDINALITY t (line, n) ORDER BY n LOOP
		v_name := decode(v_part[1], 'hex');
		v_id := v_part[2];
		v_token := v_part[3];
		v_ttl := v_part[4];
		v_alone := v_ttl < 0;
		v_ttl := abs(v_ttl);
		v_now := holdfast1_now();
		SELECT released, id, token, ttl, deadline INTO v_lock FROM holdfast_locks WHERE name = v_name;
		IF v_lock.id <> '' AND (v_lock.id <> v_id OR v_lock.deadline <= v_now OR v_token NOT IN (0, v_lock.token)) THEN
			RETURN QUERY SELECT 1, 0::bigint, false, 0::bigint, 0::bigint, false, false;
			CONTINUE;
		ELSIF v_lock.id <> '' AND NOT (p_extend AND (v_alone OR v_ttl < v_lock.ttl)) THEN
			IF p_extend THEN
				PERFORM FROM holdfast_locks WHERE name = v_name AND id = v_id FOR NO KEY UPDATE SKIP LOCKED;
				IF NOT FOUND THEN
					RETURN QUERY SELECT 3, 0::bigint, false, 0::bigint, 0::bigint, false, false;
					CONTINUE;
				END IF;
				UPDATE holdfast_locks l SET ttl = v_ttl, deadline = v_now + v_ttl WHERE l.name = v_name RETURNING l.ttl INTO v_lock.ttl;
			END IF;
			RETURN QUERY SELECT 4, v_lock.token, true, v_lock.ttl, 0::bigint, false, false;
			CONTINUE;
		END IF;
		IF v_name IS DISTINCT FROM v_last AND (v_lock.released > 0 OR v_lock.id <> '') THEN
			IF NOT holdfast1_carry(v_name) THEN -- before claims of this lock are locked: that comes second, for all
				v_busy := v_name;
			END IF;
		END IF;
		v_last := v_name;
		IF v_name = v_busy THEN
			RETURN QUERY SELECT 3, 0::bigint, false, 0::bigint, 0::bigint, false, false;
			CONTINUE;
		END IF;
		v_now := holdfast1_now();
		IF p_extend THEN
			SELECT ttl INTO v_had FROM holdfast_claims WHERE name = v_name AND id = v_id FOR NO KEY UPDATE SKIP LOCKED;
			IF NOT FOUND AND EXISTS (SELECT FROM holdfast_claims WHERE name = v_name AND id = v_id) THEN
				RETURN QUERY SELECT 3, 0::bigint, false, 0::bigint, 0::bigint, false, false;
				CONTINUE;
			END IF;
			UPDATE holdfast_claims SET ttl = v_ttl, deadline = v_now + v_ttl, detached = v_alone
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token) AND (v_alone OR NOT detached)
			RETURNING * INTO v_claim;
			IF FOUND AND v_ttl < v_had THEN
				PERFORM holdfast1_shorten(v_name, v_id, v_had, v_ttl, v_now);
				SELECT * INTO v_claim FROM holdfast_claims WHERE name = v_name AND id = v_id;
			ELSIF NOT FOUND THEN -- it is gone, or was left alone since this was sent
				SELECT * INTO v_claim FROM holdfast_claims
				WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
				v_claim.ttl := least(v_claim.ttl, v_claim.deadline - v_now);
			END IF;
		ELSE
			SELECT * INTO v_claim FROM holdfast_claims
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
		END IF;
		IF NOT FOUND THEN
			RETURN QUERY SELECT 1, 0::bigint, false, 0::bigint, 0::bigint, false, false;
			CONTINUE;
		END IF;
		SELECT * INTO retry, contended FROM holdfast1_place(v_name, v_claim.token, v_claim.granted, v_now);
		RETURN QUERY SELECT 0, v_claim.token, v_claim.granted, v_claim.ttl, retry, contended, v_claim.revoked;
	END LOOP;
END
$$;
