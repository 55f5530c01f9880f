-- Sets after how many seconds the server ends the session when it is idle.
SET SESSION wait_timeout = {idle};
