-- Brings tables that an earlier program has made to what they are now, before those that are missing are made. A statement
-- that changes nothing waits for those who use the tables nevertheless, so each looks first.
--
-- Holders that renew stand behind a lock on a whole table, and behind a request for one. So this requests all such locks
-- together, for half a second at a time. Programs of a revision before 21 wait in a statement that has read the tables, for up to
-- ten seconds. This cancels such statements, whose programs then wait anew.
DO $$
DECLARE
	v_tries integer := 0;
BEGIN
	IF to_regclass('holdfast_store') IS NULL THEN
		RETURN;
	END IF;
	IF EXISTS (SELECT FROM holdfast_store WHERE format <> 1) THEN
		RAISE EXCEPTION 'the tables are in another format than 1; use a newer holdfast migrate';
	END IF;
	IF to_regprocedure('holdfast1_version()') IS NOT NULL THEN
		IF (SELECT revision FROM holdfast1_version()) > {revision} THEN
			RAISE EXCEPTION 'a newer holdfast migrate has made the routines' USING ERRCODE = 'HF001';
		END IF;
	END IF;
	IF to_regclass('holdfast_locks') IS NOT NULL AND to_regclass('holdfast_claims') IS NOT NULL AND (
		to_regclass('holdfast_claims_deadline') IS NOT NULL OR to_regclass('holdfast_claims_queue') IS NOT NULL OR 3 > (
			SELECT count(*) FROM pg_attribute
			WHERE NOT attisdropped AND (attrelid, attname) IN (
				(to_regclass('holdfast_claims'), 'detached'),
				(to_regclass('holdfast_locks'), 'head'),
				(to_regclass('holdfast_locks'), 'noted')
			)
		)
	) THEN
		LOOP
			BEGIN
				PERFORM pg_cancel_backend(a.pid) FROM pg_stat_activity a
				WHERE a.query LIKE '%holdfast1_wait(%' AND a.pid <> pg_backend_pid() AND EXISTS (
					SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.locktype = 'relation'
						AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
						AND l.relation IN (to_regclass('holdfast_locks'), to_regclass('holdfast_claims'))
				);
			EXCEPTION WHEN insufficient_privilege THEN NULL; -- they end by themselves
			END;
			BEGIN
				PERFORM set_config('lock_timeout', '500ms', true);
				LOCK TABLE holdfast_locks, holdfast_claims IN ACCESS EXCLUSIVE MODE;
				EXIT;
			EXCEPTION WHEN lock_not_available THEN
				v_tries := v_tries + 1;
				IF v_tries = 50 THEN
					RAISE EXCEPTION 'the tables of locks are in use all the time; run holdfast migrate as the user of the programs '
						'that wait for locks, or stop those programs' USING ERRCODE = '55P03';
				END IF;
			END;
			PERFORM pg_sleep(0.1);
		END LOOP;
		PERFORM set_config('lock_timeout', '0', true);
	END IF;
	IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass('holdfast_store') AND indisprimary) THEN
		ALTER TABLE holdfast_store ADD PRIMARY KEY (format);
	END IF;
	IF NOT EXISTS (
		SELECT FROM pg_attribute WHERE attrelid = to_regclass('holdfast_claims') AND attname = 'detached' AND NOT attisdropped
	) THEN
		ALTER TABLE IF EXISTS holdfast_claims ADD COLUMN detached boolean NOT NULL DEFAULT false;
	END IF;
	IF NOT EXISTS (
		SELECT FROM pg_attribute WHERE attrelid = to_regclass('holdfast_locks') AND attname = 'head' AND NOT attisdropped
	) THEN
		ALTER TABLE IF EXISTS holdfast_locks ADD COLUMN head bigint NOT NULL DEFAULT 0;
	END IF;
	IF NOT EXISTS (
		SELECT FROM pg_attribute WHERE attrelid = to_regclass('holdfast_locks') AND attname = 'noted' AND NOT attisdropped
	) THEN
		ALTER TABLE IF EXISTS holdfast_locks ADD COLUMN noted bigint NOT NULL DEFAULT 0;
	END IF;
	IF to_regclass('holdfast_claims_deadline') IS NOT NULL THEN
		DROP INDEX holdfast_claims_deadline;
	END IF;
	IF to_regclass('holdfast_claims_queue') IS NOT NULL THEN
		DROP INDEX holdfast_claims_queue; -- holdfast_claims_order comes in its place
	END IF;
	IF NOT EXISTS (
		SELECT FROM pg_class WHERE oid = to_regclass('holdfast_claims') AND reloptions::text LIKE '%autovacuum%'
	) THEN -- those that somebody has set stay
		ALTER TABLE holdfast_locks SET (
			autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
		);
		ALTER TABLE holdfast_claims SET (
			fillfactor = 50,
			autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
		);
		ALTER TABLE holdfast_ends SET (
			autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
		);
	END IF;
	DROP FUNCTION IF EXISTS holdfast1_stale(bigint), holdfast1_retire(bigint, bigint), holdfast1_tidy(bytea);
END
$$;
