-- Sets up a session further, where the server has these settings. The first is MariaDB's; MySQL's concerns only SELECT. With
-- the second a node of Galera first does what others have done before it was asked. With the third so does one of several
-- primaries in group replication; a single one has nothing to wait for.
SET SESSION max_statement_time = 0;
SET SESSION wsrep_sync_wait = 7;
SET SESSION group_replication_consistency = IF(@@GLOBAL.group_replication_single_primary_mode OR
	@@GLOBAL.group_replication_consistency LIKE '%AFTER', @@GLOBAL.group_replication_consistency, 'BEFORE');
