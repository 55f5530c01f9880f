-- Brings tables that an earlier program has made to what they are now, before those that are missing are made. Takes and
-- returns nothing.
CREATE PROCEDURE holdfast1_forward() SQL SECURITY INVOKER
BEGIN
	IF EXISTS (
		SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_store'
	) THEN
		IF EXISTS (SELECT 1 FROM holdfast_store WHERE format <> 1) THEN
			SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the tables are in another format than 1; use a newer holdfast migrate';
		END IF;
		IF NOT EXISTS (
			SELECT 1 FROM information_schema.STATISTICS
			WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_store' AND INDEX_NAME = 'PRIMARY'
		) THEN
			ALTER TABLE holdfast_store ADD PRIMARY KEY (format);
		END IF;
		IF NOT EXISTS (
			SELECT 1 FROM information_schema.COLUMNS
			WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_claims' AND COLUMN_NAME = 'detached'
		) THEN
			ALTER TABLE holdfast_claims ADD COLUMN detached TINYINT NOT NULL DEFAULT 0;
		END IF;
		IF NOT EXISTS (
			SELECT 1 FROM information_schema.COLUMNS
			WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_locks' AND COLUMN_NAME = 'noted'
		) THEN
			ALTER TABLE holdfast_locks ADD COLUMN noted BIGINT NOT NULL DEFAULT 0;
		END IF;
		IF EXISTS (
			SELECT 1 FROM information_schema.STATISTICS
			WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_claims' AND INDEX_NAME = 'holdfast_claims_deadline'
		) THEN
			ALTER TABLE holdfast_claims DROP INDEX holdfast_claims_deadline;
		END IF;
	END IF;
END
