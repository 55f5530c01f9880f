-- Sets after how many milliseconds the server ends the session when it is idle.
SET idle_session_timeout = {idle};
