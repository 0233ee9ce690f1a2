#!/bin/sh
# Take set-aside GPUs back from the spot market: one command. At a terminal it shows who would end and asks for their
# number; a script says how many it expects, and nobody is ended when it is another number.
set -eu

: "${UNIT_RESERVATION:?the id of what was set aside, ursv_…}"
berth reclaim "$UNIT_RESERVATION" --expect "${EXPECT:-3}"
