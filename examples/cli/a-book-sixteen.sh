#!/bin/sh
# Book sixteen GPUs on one rack for a week: one command. At a terminal it shows the plan and asks; a script says --yes.
# BERTH_POOL, the id or label of a pool, is needed where the request fits in several: berth then names them, status 2.
set -eu

berth book 16 --together rack --start "tomorrow 09:00" --for 7d --yes ${BERTH_POOL:+--pool "$BERTH_POOL"}
