-- Sets up a session, whose settings are then as in routines. The server may not have the last one: to set it all the same
-- would be an error in its log for each connection.
SELECT set_config('default_transaction_isolation', 'read committed', false), set_config('statement_timeout', '0', false),
	set_config('lock_timeout', '800ms', false), set_config('enable_seqscan', 'off', false),
	set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false),
	CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
		THEN set_config('transaction_timeout', '0', false) END;
