-- Brings tables that an earlier program has made to what they are now, before those that are missing are made. A statement
-- that changes nothing waits for those who use the tables nevertheless, so each looks first.
DO $$
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
