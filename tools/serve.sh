#!/bin/sh
# `make serve`: Airflow on this machine only, its log in a file, its URL and login on the terminal.
set -eu

export AIRFLOW__API__HOST=127.0.0.1
export AIRFLOW__API__PORT="$PORT"
export AIRFLOW__API__BASE_URL="http://localhost:$PORT"
export AIRFLOW__CORE__EXECUTION_API_SERVER_URL="http://localhost:$PORT/execution/"
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE="$AIRFLOW_HOME/passwords.json"
export AUDIT_DEADLINE_HOURS="${AUDIT_DEADLINE_HOURS:-24}"

log="$AIRFLOW_HOME/standalone.log"
healthy() {
    python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' \
        "http://localhost:$PORT/api/v2/monitor/health" 2>/dev/null
}
password() {
    python -c 'import json, sys; print(json.load(open(sys.argv[1]))["admin"])' \
        "$AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"
}
announce() {
    until healthy; do
        kill -0 $$ 2>/dev/null || { echo "Airflow did not start:"; tail -n 20 "$log"; return; }
        sleep 1
    done
    echo "URL:      http://localhost:$PORT"
    echo "Login:    admin"
    echo "Password: $(password)"
    echo "Store:    $AUDIT_STORE"
    echo "Ctrl-C stops it."
}

if healthy; then
    echo "Something answers on port $PORT already; choose another one: make serve PORT=8081"
    exit 1
fi
echo "Starting Airflow; its log is $log"
announce &
# In the place of this shell, so that Ctrl-C reaches it: a job in the background would not hear it.
exec airflow standalone > "$log" 2>&1
