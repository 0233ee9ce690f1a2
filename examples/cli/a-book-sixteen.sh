#!/bin/sh
# Book sixteen GPUs on one rack for a week: one command. At a terminal it shows the plan and asks; a script says --yes.
set -eu

berth book 16 --together rack --start "tomorrow 09:00" --for 7d --yes
