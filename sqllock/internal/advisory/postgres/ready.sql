-- Makes a session ready, which the server ends when it has been idle for so many milliseconds. Servers have
-- transaction_timeout since version 17.
SELECT set_config('idle_session_timeout', '{idle}', false), set_config('lock_timeout', '{wait}s', false),
	set_config('statement_timeout', '0', false), set_config('default_transaction_isolation', 'read committed', false),
	CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL THEN set_config('transaction_timeout', '0', false) END;
