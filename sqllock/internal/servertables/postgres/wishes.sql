-- Sets up a session further, where the server has these settings, which are there since version 14, and takes them.
SELECT CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
		THEN set_config('idle_session_timeout', '0', false) END,
	CASE WHEN current_setting('client_connection_check_interval', true) IS NOT NULL
		THEN set_config('client_connection_check_interval', '1000', false) END;
