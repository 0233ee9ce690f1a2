#!/usr/bin/env python3
"""Books two GPUs over plain HTTP, looks at the booking and gives it back.

    BERTH_URL=http://127.0.0.1:8787 BERTH_TOKEN=berth_... BERTH_TENANT=vision BERTH_POOL=pool_... ./book.py

Needs Python 3.9 and nothing else. Every body and answer is described by BERTH_URL/openapi.json.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ["BERTH_URL"].rstrip("/")
TOKEN = os.environ["BERTH_TOKEN"]
TRIES = 4


class Problem(Exception):
    """An answer that is an error: `code` is for programs, the text for people."""

    def __init__(self, problem):
        super().__init__(f"{problem['code']}: {problem['detail']} (see {problem['type']})")
        self.code = problem["code"]
        self.details = problem["details"]


def call(method, body, key=None):
    """The method's answer. Sends it again only where the server says that this may help."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    request = urllib.request.Request(
        f"{URL}/api/compute/{method.replace('.', '/')}", json.dumps(body).encode(), headers
    )
    for left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if left == 0 or error.headers.get("x-should-retry") != "true":
                raise Problem(json.load(error)) from None
            time.sleep(float(error.headers.get("Retry-After", 1)))
        except urllib.error.URLError:
            # No answer says nothing about what happened: only a call with a key may be sent again.
            if left == 0 or key is None:
                raise
            time.sleep(1)


def main():
    mine = {"tenantId": os.environ["BERTH_TENANT"]}
    ask = {
        **mine,
        "poolId": os.environ["BERTH_POOL"],
        "devices": [{"class": "gpu", "count": 2}],
        "duration": "1h",
    }
    # One key a booking, made before the first try: whatever happens on the way, the GPUs are booked once.
    key = f"book-py-{uuid.uuid4()}"

    preview = call("capacity.preview", ask, key)
    if not preview["fits"]:
        print(f"does not fit: {preview['reason']['message']}; first at {preview['earliestStart']}")
        return 3
    booked = call("reservations.create", ask, key)
    for member in booked["members"]:
        print(member["nodeName"], [atom["gpuUuid"] for atom in member["atoms"]])
    one = {**mine, "reservationId": booked["id"]}
    print(booked["id"], "is", call("reservations.get", one)["state"])
    print(booked["id"], "is", call("reservations.release", one)["state"])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
