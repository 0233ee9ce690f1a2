#!/bin/sh
# Books two GPUs over plain HTTP, looks at the booking and gives it back.
#
#   BERTH_URL=http://127.0.0.1:8787 BERTH_TOKEN=berth_… BERTH_TENANT=vision BERTH_POOL=pool_… ./book.sh
#
# Needs curl and a POSIX shell. Every body and answer is described by $BERTH_URL/openapi.json.
set -eu
: "${BERTH_URL:?where the server is}" "${BERTH_TOKEN:?your key}" "${BERTH_TENANT:?your tenant}" "${BERTH_POOL:?a pool}"

# One key a booking, made before the first try and kept for every further one: whatever happens on the way, the
# GPUs are booked once.
key="book-sh-$(date +%s)-$$"

# call METHOD BODY [curl option…]: prints the answer; an error goes to standard error and ends the script.
call() {
  method=$1 body=$2
  shift 2
  curl --silent --show-error --fail-with-body --retry 3 \
    --header "Authorization: Bearer $BERTH_TOKEN" --header "Content-Type: application/json" \
    --data "$body" "$@" "$BERTH_URL/api/compute/$method" || { echo >&2; exit 1; }
}

ask="\"tenantId\":\"$BERTH_TENANT\",\"poolId\":\"$BERTH_POOL\",\"devices\":[{\"class\":\"gpu\",\"count\":2}],\"duration\":\"1h\""

echo "Would it fit?"
call capacity/preview "{$ask}" --header "Idempotency-Key: $key"
echo

echo "Booked:"
booked=$(call reservations/create "{$ask}" --header "Idempotency-Key: $key")
echo "$booked"
id=$(printf '%s' "$booked" | grep -o '"id":"rsv_[^"]*"' | head -n 1 | cut -d '"' -f 4)

echo "As it stands:"
call reservations/get "{\"tenantId\":\"$BERTH_TENANT\",\"reservationId\":\"$id\"}"
echo

echo "Given back:"
call reservations/release "{\"tenantId\":\"$BERTH_TENANT\",\"reservationId\":\"$id\"}"
echo
