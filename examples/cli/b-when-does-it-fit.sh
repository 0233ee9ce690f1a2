#!/bin/sh
# See why it does not fit and when it would: one command. Status 3 says "no room"; the plan has the reason, the earliest
# start, and the command line that books then.
set -u

berth book 16 --together rack --for 1h --yes
status=$?
[ "$status" -eq 3 ] || exit "$status"

# For a program the same question answers JSON.
echo "earliest, in milliseconds since the epoch:"
berth preview 16 --together rack --for 1h -o json | sed -n 's/.*"earliestStart": \([0-9]*\).*/\1/p'
