-- Makes a session ready, which the server ends when it has been idle for so many seconds. The comments are MariaDB's and
-- MySQL's: each server reads its own. GET_LOCK of MySQL waits for whole seconds, which is not slow.
SET SESSION wait_timeout = {idle}, autocommit = 1, innodb_lock_wait_timeout = 5,
	sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'
	/*M! , max_statement_time = 0 */
	/*!50708 , max_execution_time = 0, long_query_time = GREATEST(@@SESSION.long_query_time, 2) */;
