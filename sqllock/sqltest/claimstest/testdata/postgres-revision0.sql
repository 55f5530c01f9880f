-- Makes the tables of format 1. Takes and returns nothing.
--
-- Names, owners and values are bytes. Times are microseconds since 1970 by the server's clock, and TTLs microseconds.
CREATE TABLE holdfast_locks ( -- a row for each lock, which is locked by whoever changes its queue
	name     bytea  NOT NULL PRIMARY KEY,
	token    bigint NOT NULL, -- the greatest so far
	released bigint NOT NULL  -- the token up to which claims were released, while some of them are still here; else 0
) WITH (fillfactor = 50)
-- next

CREATE TABLE holdfast_claims ( -- the queues: a row for each claim, waiting or granted
	name     bytea   NOT NULL,
	id       text    NOT NULL COLLATE "C",
	token    bigint  NOT NULL, -- place in the queue, and fencing token
	weight   bigint  NOT NULL,
	units    bigint  NOT NULL, -- the claim's limit
	ttl      bigint  NOT NULL,
	deadline bigint  NOT NULL,
	since    bigint  NOT NULL,
	granted  boolean NOT NULL,
	revoked  boolean NOT NULL,
	owner    bytea   NOT NULL,
	value    bytea   NOT NULL,
	PRIMARY KEY (name, id)
)
-- next
CREATE INDEX holdfast_claims_queue ON holdfast_claims (name, granted, token)
-- next
CREATE INDEX holdfast_claims_deadline ON holdfast_claims (deadline)
-- next

CREATE TABLE holdfast_ends ( -- claims that ended, while a late copy of their request may still arrive
	name     bytea   NOT NULL,
	id       text    NOT NULL COLLATE "C",
	token    bigint  NOT NULL,
	released boolean NOT NULL, -- by who asked for it; otherwise it expired, was broken, or was barred before it came
	deadline bigint  NOT NULL, -- of remembering
	PRIMARY KEY (name, id)
)
-- next
CREATE INDEX holdfast_ends_deadline ON holdfast_ends (deadline)
-- next
DROP FUNCTION IF EXISTS holdfast1_now
-- next
-- Reads the clock, which goes on within a transaction. Takes nothing, returns microseconds since 1970.
CREATE FUNCTION holdfast1_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_bell
-- next
-- Names a bell: an advisory lock that the session of a claim's client holds, so that others can wait until it is let go.
-- Takes the claim's ID and which of its bells: 'end' or 'wait'. Returns a key.
CREATE FUNCTION holdfast1_bell(p_id text, p_which text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT hashtextextended('holdfast ' || p_which || ' ' || p_id, 0)
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_finish
-- next
-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, whether it was
-- released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays.
CREATE FUNCTION holdfast1_finish(p_name bytea, p_id text, p_released boolean, p_now bigint, p_most bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH taken AS (
		DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline <= p_most RETURNING token, ttl
	)
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT p_name, p_id, token, p_released, p_now + ttl FROM taken
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_grant
-- next
-- Grants what is grantable at the front of a queue, whose row is locked, and takes waiting claims that are dead out of it. It
-- reads no further than the first claim that has to wait. Takes name, now, a token that those of the waiting claims are
-- greater than, the units that are granted, and the least limit among those claims. Returns the last two anew and, where there
-- is room for more, whether a claim waits. The rows of claims that were granted while somebody's snapshot is older are dead,
-- but in the way: from the token on there are few of them.
CREATE FUNCTION holdfast1_grant(
	p_name bytea, p_now bigint, p_after bigint, INOUT o_sum bigint, INOUT o_limit bigint, OUT o_waits boolean
) LANGUAGE plpgsql AS $$
DECLARE
	v_claim record;
BEGIN
	WHILE o_sum < o_limit LOOP
		SELECT id, token, weight, units, deadline INTO v_claim
		FROM holdfast_claims WHERE name = p_name AND NOT granted AND token > p_after ORDER BY token LIMIT 1;
		o_waits := FOUND;
		EXIT WHEN NOT o_waits;
		p_after := v_claim.token;
		IF v_claim.deadline <= p_now THEN
			PERFORM holdfast1_finish(p_name, v_claim.id, false, p_now, p_now);
			CONTINUE;
		END IF;
		EXIT WHEN o_sum + v_claim.weight > least(o_limit, v_claim.units);
		UPDATE holdfast_claims SET granted = true WHERE name = p_name AND id = v_claim.id;
		o_sum := o_sum + v_claim.weight;
		o_limit := least(o_limit, v_claim.units);
	END LOOP;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_settle
-- next
-- Makes the front of a queue, whose row is locked, what it should be: dead claims leave it, and what becomes grantable is
-- granted. Takes name and now. Returns the units that are granted, the least limit among those claims, and whether a claim
-- waits.
CREATE FUNCTION holdfast1_settle(p_name bytea, p_now bigint, OUT o_sum bigint, OUT o_limit bigint, OUT o_waits boolean)
LANGUAGE plpgsql AS $$
DECLARE
	v_until bigint;
	v_last  bigint; -- the greatest token that is granted
BEGIN
	LOOP
		SELECT coalesce(sum(weight), 0), coalesce(min(units), 2147483647), min(deadline), coalesce(max(token), 0)
		INTO o_sum, o_limit, v_until, v_last
		FROM holdfast_claims WHERE name = p_name AND granted;
		EXIT WHEN v_until IS NULL OR v_until > p_now;
		PERFORM holdfast1_finish(p_name, d.id, false, p_now, p_now)
		FROM (SELECT id FROM holdfast_claims WHERE name = p_name AND granted AND deadline <= p_now ORDER BY token) d;
	END LOOP;
	SELECT * INTO o_sum, o_limit, o_waits FROM holdfast1_grant(p_name, p_now, v_last, o_sum, o_limit);
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_pass
-- next
-- Carries out releases that were only noted in the row of the lock, which is locked: takes these claims out of the queue,
-- whatever their deadlines are, and grants what is behind them. Takes the name and the token up to which claims were released.
CREATE FUNCTION holdfast1_pass(p_name bytea, p_released bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_now bigint := holdfast1_now();
BEGIN
	PERFORM holdfast1_finish(p_name, d.id, true, v_now, 9223372036854775807)
	FROM (
		SELECT id FROM holdfast_claims
		WHERE name = p_name AND granted IN (false, true) AND token <= p_released ORDER BY token
	) d;
	UPDATE holdfast_locks SET released = 0 WHERE name = p_name;
	PERFORM holdfast1_settle(p_name, v_now);
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_enter
-- next
-- Locks the row of a lock until the transaction ends, so that one changes a queue at a time. A release that was only noted
-- is carried out first. Takes the name.
CREATE FUNCTION holdfast1_enter(p_name bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_released bigint;
BEGIN
	LOOP
		SELECT released INTO v_released FROM holdfast_locks WHERE name = p_name FOR UPDATE;
		EXIT WHEN FOUND;
		INSERT INTO holdfast_locks (name, token, released) VALUES (p_name, 0, 0) ON CONFLICT DO NOTHING;
	END LOOP;
	IF v_released > 0 THEN
		PERFORM holdfast1_pass(p_name, v_released);
	END IF;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_withdraw
-- next
-- Takes a claim out of its queue, whatever it has and whoever shares it. Where nobody was queued behind it, that grants
-- nothing. Takes name, ID, token or 0, and TTL. Returns what release does.
CREATE FUNCTION holdfast1_withdraw(p_name bytea, p_id text, p_token bigint, p_ttl bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	v_now    bigint;
	v_claim  record;
	v_answer integer := 1;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT c.token, c.deadline, l.token > c.token AS behind INTO v_claim
	FROM holdfast_locks l, holdfast_claims c WHERE l.name = p_name AND c.name = p_name AND c.id = p_id FOR UPDATE OF c;
	IF NOT FOUND THEN
		SELECT token, released INTO v_claim FROM holdfast_ends WHERE name = p_name AND id = p_id AND deadline > v_now;
		IF FOUND AND v_claim.released AND p_token IN (0, v_claim.token) THEN
			v_answer := 0;
		ELSIF NOT FOUND AND p_token = 0 THEN
			INSERT INTO holdfast_ends (name, id, token, released, deadline)
			VALUES (p_name, p_id, 0, false, v_now + p_ttl)
			ON CONFLICT (name, id) DO UPDATE
			SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
		END IF;
	ELSIF v_claim.deadline <= v_now THEN
		PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_now);
		PERFORM holdfast1_settle(p_name, v_now);
	ELSIF p_token IN (0, v_claim.token) THEN
		PERFORM holdfast1_finish(p_name, p_id, true, v_now, v_claim.deadline);
		IF v_claim.behind THEN
			PERFORM holdfast1_settle(p_name, v_now);
		END IF;
		v_answer := 0;
	END IF;
	RETURN v_answer;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_place
-- next
-- Tells where in its queue a claim is. Takes name, token, granted, and now. Returns when the claim that blocks it expires if
-- it is the next in line and else 0, and whether others wait behind it.
CREATE FUNCTION holdfast1_place(
	p_name bytea, p_token bigint, p_granted boolean, p_now bigint, OUT o_retry bigint, OUT o_contended boolean
) LANGUAGE plpgsql AS $$
BEGIN
	o_retry := 0;
	o_contended := EXISTS (
		SELECT FROM holdfast_claims
		WHERE name = p_name AND granted IN (false, p_granted) AND token > p_token AND deadline > p_now
	);
	IF NOT p_granted AND NOT EXISTS (
		SELECT FROM holdfast_claims WHERE name = p_name AND NOT granted AND token < p_token AND deadline > p_now
	) THEN
		o_retry := greatest(1, (SELECT min(deadline) FROM holdfast_claims WHERE name = p_name AND granted) - p_now);
	END IF;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_hang
-- next
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
-- next
DROP FUNCTION IF EXISTS holdfast1_ring
-- next
-- Lets go of a bell of this session, at the moment at which others can see what this transaction has changed: the
-- transaction's own hold on it ends then. Takes the claim's ID and which bell.
CREATE FUNCTION holdfast1_ring(p_id text, p_which text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_bell bigint := holdfast1_bell(p_id, p_which);
BEGIN
	IF pg_try_advisory_xact_lock(v_bell) THEN
		PERFORM pg_advisory_unlock(v_bell);
	END IF;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_request
-- next
-- Queues a claim, or renews it when it is queued. Takes the claim, whether it stays in the queue when it has to wait, and
-- whether to hang up its bells. Returns an answer (0 the state follows, 1 gone, 2 not queued) and the state.
CREATE FUNCTION holdfast1_request(
	p_name bytea, p_id text, p_token bigint, p_weight bigint, p_units bigint, p_ttl bigint, p_stay boolean,
	p_owner bytea, p_value bytea, p_bells boolean
)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now   bigint;
	v_claim record;
	v_front record;
BEGIN
	answer := 0;
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT token, deadline INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF FOUND AND v_claim.deadline <= v_now THEN
		PERFORM holdfast1_settle(p_name, v_now);
		PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_now);
		answer := 1;
	ELSIF FOUND AND p_token NOT IN (0, v_claim.token) THEN
		answer := 1;
	ELSIF FOUND THEN
		UPDATE holdfast_claims SET ttl = p_ttl, deadline = v_now + p_ttl WHERE name = p_name AND id = p_id;
		PERFORM holdfast1_settle(p_name, v_now);
	ELSIF p_token <> 0 OR EXISTS (
		SELECT FROM holdfast_ends WHERE name = p_name AND id = p_id AND deadline > v_now
	) THEN
		answer := 1;
	ELSE
		SELECT * INTO v_front FROM holdfast1_settle(p_name, v_now);
		granted := NOT v_front.o_waits AND v_front.o_sum + p_weight <= least(v_front.o_limit, p_units);
		IF granted OR p_stay THEN
			UPDATE holdfast_locks SET token = greatest(token + 1, v_now) WHERE name = p_name
			RETURNING holdfast_locks.token INTO token;
			INSERT INTO holdfast_claims
				(name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)
			VALUES
				(p_name, p_id, token, p_weight, p_units, p_ttl, v_now + p_ttl, v_now, granted, false, p_owner, p_value);
		ELSE
			answer := 2;
		END IF;
	END IF;
	IF answer > 0 THEN
		RETURN QUERY SELECT answer, 0::bigint, false, 0::bigint, 0::bigint, false, false;
		RETURN;
	END IF;
	IF token IS NOT NULL AND granted THEN -- it is new, so nobody is behind it
		RETURN QUERY SELECT 0, token, true, p_ttl, 0::bigint, false, false;
	ELSE
		SELECT * INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id;
		granted := v_claim.granted;
		SELECT * INTO retry, contended FROM holdfast1_place(p_name, v_claim.token, granted, v_now);
		RETURN QUERY SELECT 0, v_claim.token, granted, p_ttl, retry, contended, v_claim.revoked;
	END IF;
	IF p_bells THEN
		PERFORM holdfast1_hang(p_id, NOT granted AND p_weight < p_units);
	END IF;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_release
-- next
-- Releases a claim, and rings its bells. Where it has its lock to itself, and another was queued behind it, that is only noted
-- in the row of the lock: from then on it has ended, and the next one has the lock, though its row does not say so yet.
-- Whoever enters the queue next carries that out. Any other claim goes the longer way, withdraw. Takes name, ID, token or 0,
-- TTL, and how many bells it has in this session: the first is for its end, the second for its grant. Returns 0, or 1 when it
-- had ended otherwise.
CREATE FUNCTION holdfast1_release(p_name bytea, p_id text, p_token bigint, p_ttl bigint, p_bells bigint)
RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_answer integer := 0;
BEGIN
	PERFORM FROM holdfast_locks WHERE name = p_name AND token > p_token FOR UPDATE; -- and then look at what is committed
	IF FOUND THEN
		UPDATE holdfast_locks l SET released = p_token FROM holdfast_claims c
		WHERE l.name = p_name AND l.released < p_token
			AND c.name = p_name AND c.id = p_id AND c.token = p_token AND c.weight = c.units AND c.deadline > holdfast1_now()
			AND (c.granted OR l.released > 0 AND NOT EXISTS (
				SELECT FROM holdfast_claims w
				WHERE w.name = p_name AND NOT w.granted AND w.token > l.released AND w.token < p_token
			));
	END IF;
	IF NOT FOUND THEN
		v_answer := holdfast1_withdraw(p_name, p_id, p_token, p_ttl);
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
-- next
DROP FUNCTION IF EXISTS holdfast1_renew
-- next
-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, and 1 to hang up the
-- claim's bells, with spaces between them and sorted by name and token, and whether to renew. Returns for each line an
-- answer (0 the state follows, 1 gone) and the state.
CREATE FUNCTION holdfast1_renew(p_claims text, p_extend boolean)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_part  text[];
	v_name  bytea;
	v_last  bytea;
	v_id    text;
	v_token bigint;
	v_ttl   bigint;
	v_now   bigint;
	v_claim record;
BEGIN
	FOR v_part IN SELECT string_to_array(line, ' ') FROM unnest(string_to_array(p_claims, E'\n')) WITH ORDINALITY t (line, n) ORDER BY n LOOP
		v_name := decode(v_part[1], 'hex');
		v_id := v_part[2];
		v_token := v_part[3];
		v_ttl := v_part[4];
		IF v_name IS DISTINCT FROM v_last AND EXISTS (SELECT FROM holdfast_locks WHERE name = v_name AND released > 0) THEN
			PERFORM holdfast1_enter(v_name); -- before claims of this lock are locked: that comes second, for all
		END IF;
		v_last := v_name;
		v_now := holdfast1_now();
		IF p_extend THEN
			UPDATE holdfast_claims SET ttl = v_ttl, deadline = v_now + v_ttl
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token)
			RETURNING * INTO v_claim;
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
		IF v_part[5] = '1' THEN
			PERFORM holdfast1_hang(v_id, NOT v_claim.granted AND v_claim.weight < v_claim.units);
		END IF;
	END LOOP;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_wait
-- next
-- Waits until a claim is granted or has ended, or until it is time to ask again. While one claim alone decides that, this
-- sleeps until that claim's bell rings, and looks now and then nevertheless: the next in line every second, others every
-- five. Takes name, ID, how long to wait, and whether there are bells. Returns an answer (0 the state follows, 1 gone, 2 ask
-- again, 3 nothing new) and the state. Of a claim that is granted it says that others wait if any was queued behind it.
CREATE FUNCTION holdfast1_wait(p_name bytea, p_id text, p_limit bigint, p_bells boolean)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT SET client_min_messages = error AS $$
#variable_conflict use_column
DECLARE
	v_now   bigint := holdfast1_now();
	v_end   bigint := v_now + p_limit;
	v_claim record;
	v_other record;
	v_ahead bigint; -- the token of the claim right ahead
	v_bell  bigint;
	v_rung  bigint; -- a bell that nobody holds, though the claim is there
	v_pause bigint;
BEGIN
	answer := 3;
	LOOP
		SELECT c.token, c.granted OR l.released IS NOT DISTINCT FROM v_ahead AS granted, c.weight, c.units, c.ttl, c.revoked,
			l.released, l.token > c.token AS behind INTO v_claim
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

		v_pause := 5000;
		SELECT id, token, weight, units, deadline AS until INTO v_other FROM holdfast_claims
		WHERE name = p_name AND NOT granted AND token < v_claim.token AND deadline > v_now ORDER BY token DESC LIMIT 1;
		IF FOUND AND v_other.weight < v_other.units THEN -- its grant may be this claim's, too
			v_bell := holdfast1_bell(v_other.id, 'wait');
		ELSIF FOUND THEN
			v_bell := holdfast1_bell(v_other.id, 'end');
		ELSE
			SELECT count(*) AS holders, min(deadline) AS until, max(id) AS id, max(token) AS token INTO v_other
			FROM holdfast_claims WHERE name = p_name AND granted AND token < v_claim.token;
			IF v_other.holders = 0 OR v_other.until <= v_now THEN -- it was granted a moment ago, or will be when somebody asks
				CONTINUE WHEN EXISTS (SELECT FROM holdfast_claims WHERE name = p_name AND id = p_id AND granted AND deadline > v_now);
				answer := 2;
				EXIT;
			END IF;
			v_bell := holdfast1_bell(v_other.id, 'end');
			IF v_other.holders > 1 AND v_claim.weight < v_claim.units THEN -- any of them may make room
				v_bell := NULL;
			END IF;
			v_pause := 1000;
		END IF;
		v_ahead := v_other.token;
		IF EXISTS ( -- one that has expired: it is granted first, if the clock is set back
			SELECT FROM holdfast_claims
			WHERE name = p_name AND NOT granted AND token > v_other.token AND token < v_claim.token
		) THEN
			v_ahead := NULL;
		END IF;
		v_pause := greatest(1, least(v_pause, 1 + (v_other.until - v_now) / 1000, 1 + (v_end - v_now) / 1000));

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
			PERFORM pg_sleep(least(v_pause, 20) / 1000.0);
			v_rung := NULL;
		END IF;
		v_now := holdfast1_now();
	END LOOP;
	RETURN QUERY SELECT answer, 0::bigint, false, 0::bigint, 0::bigint, false, false;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_break
-- next
-- Ends a claim by force. Takes name and ID. Returns 0, or 1 when there is no such claim.
CREATE FUNCTION holdfast1_break(p_name bytea, p_id text) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now   bigint;
	v_claim record;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT deadline INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF NOT FOUND THEN
		RETURN 1;
	END IF;
	PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_claim.deadline);
	PERFORM holdfast1_settle(p_name, v_now);
	RETURN (v_claim.deadline <= v_now)::integer;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_revoke
-- next
-- Asks a holder to let go. Takes name and ID. Returns 0, or 1 when there is no such claim or it is not granted.
CREATE FUNCTION holdfast1_revoke(p_name bytea, p_id text) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now bigint;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	PERFORM holdfast1_settle(p_name, v_now);
	UPDATE holdfast_claims SET revoked = true WHERE name = p_name AND id = p_id AND granted AND deadline > v_now;
	RETURN (NOT FOUND)::integer;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_queue
-- next
-- Reads a queue, oldest first. Takes the name, returns the live claims and for how long each lives.
CREATE FUNCTION holdfast1_queue(p_name bytea)
RETURNS TABLE (
	id text, token bigint, weight bigint, units bigint, ttl bigint, remaining bigint, since bigint, owner bytea, value bytea
)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT c.id, c.token, c.weight, c.units, c.ttl, c.deadline - n.now, c.since, c.owner, c.value
	FROM holdfast_locks l, holdfast_claims c, (SELECT holdfast1_now() AS now) n
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > n.now ORDER BY c.token
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_names
-- next
-- Lists locks with live claims. Takes a prefix of their names, returns names.
CREATE FUNCTION holdfast1_names(p_prefix bytea) RETURNS TABLE (name bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT DISTINCT c.name FROM holdfast_claims c JOIN holdfast_locks l USING (name), (SELECT holdfast1_now() AS now) n
	WHERE c.name >= p_prefix AND substr(c.name, 1, length(p_prefix)) = p_prefix
		AND c.token > l.released AND c.deadline > n.now
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_digest
-- next
-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE FUNCTION holdfast1_digest(p_name bytea) RETURNS TABLE (length bigint, last bigint, marks bigint)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT count(*), coalesce(max(c.token), 0), coalesce(sum(c.granted::integer + 2 * c.revoked::integer), 0)::bigint
	FROM holdfast_locks l, holdfast_claims c, (SELECT holdfast1_now() AS now) n
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > n.now
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_stale
-- next
-- Finds locks with claims that have expired. Takes how many, returns a name for each of the claims.
CREATE FUNCTION holdfast1_stale(p_most bigint) RETURNS TABLE (name bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT c.name FROM holdfast_claims c WHERE c.deadline <= (SELECT holdfast1_now()) ORDER BY c.deadline LIMIT p_most
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_tidy
-- next
-- Takes all dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, returns how many
-- had expired: not those of releases that were only noted.
CREATE FUNCTION holdfast1_tidy(p_name bytea) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now bigint := holdfast1_now();
	v_expired bigint;
BEGIN
	SELECT count(*) INTO v_expired FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name
	WHERE c.name = p_name AND c.deadline <= v_now AND c.token > l.released;
	PERFORM holdfast1_enter(p_name);
	PERFORM holdfast1_finish(p_name, d.id, false, v_now, v_now)
	FROM (SELECT id FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token) d;
	PERFORM holdfast1_settle(p_name, v_now);
	RETURN v_expired;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_forget
-- next
-- Forgets claims that ended long enough ago. Takes how many, returns how many it were.
CREATE FUNCTION holdfast1_forget(p_most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_count bigint;
BEGIN
	DELETE FROM holdfast_ends WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM holdfast_ends WHERE deadline <= (SELECT holdfast1_now())
		ORDER BY deadline LIMIT p_most FOR UPDATE SKIP LOCKED
	));
	GET DIAGNOSTICS v_count = ROW_COUNT;
	RETURN v_count;
END
$$;
-- next
DROP FUNCTION IF EXISTS holdfast1_retire
-- next
-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes for how long in
-- microseconds, and how many at most; returns their names.
CREATE FUNCTION holdfast1_retire(p_keep bigint, p_most bigint) RETURNS TABLE (name bytea)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_least bigint := holdfast1_now() - p_keep;
BEGIN
	RETURN QUERY DELETE FROM holdfast_locks l WHERE l.token < v_least AND l.name = ANY (ARRAY(
		SELECT o.name FROM holdfast_locks o
		WHERE o.token < v_least AND NOT EXISTS (SELECT FROM holdfast_claims c WHERE c.name = o.name)
		ORDER BY o.name LIMIT p_most FOR UPDATE SKIP LOCKED
	)) RETURNING l.name;
END
$$;
-- next
-- Says which format the tables and routines have. Takes and returns nothing.
CREATE TABLE holdfast_store (
	format integer NOT NULL -- of the tables and of the routines, whose names begin with it
)
-- next
INSERT INTO holdfast_store (format) VALUES (1)
