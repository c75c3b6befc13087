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
health() {
    python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' \
        "http://localhost:$PORT/api/v2/monitor/health" 2>/dev/null
}
if health; then
    echo "Something answers on port $PORT already; choose another one: make serve PORT=8081"
    exit 1
fi

airflow standalone > "$log" 2>&1 &
airflow_pid=$!
trap 'kill -INT "$airflow_pid" 2>/dev/null || true; wait "$airflow_pid" || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "Starting Airflow; its log is $log"
until health; do
    kill -0 "$airflow_pid" 2>/dev/null || { tail -n 20 "$log"; exit 1; }
    sleep 1
done
echo "URL:      http://localhost:$PORT"
echo "Login:    admin"
echo "Password: $(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["admin"])' \
    "$AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE")"
echo "Store:    $AUDIT_STORE"
echo "Ctrl-C stops it."
wait "$airflow_pid"
