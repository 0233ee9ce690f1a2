#!/bin/sh
# See why it does not fit and when it would: one command. Status 3 says "no room"; the plan has the reason, the earliest
# start, and the command line that books then.
# BERTH_POOL, the id or label of a pool, is needed where the request fits in several: berth then names them, status 2.
set -u

berth book 16 --together rack --for 1h --yes ${BERTH_POOL:+--pool "$BERTH_POOL"}
status=$?
[ "$status" -eq 3 ] || exit "$status"

# For a program the same question answers JSON.
echo "earliest, in milliseconds since the epoch:"
berth preview 16 --together rack --for 1h ${BERTH_POOL:+--pool "$BERTH_POOL"} -o json | sed -n 's/.*"earliestStart": \([0-9]*\).*/\1/p'
