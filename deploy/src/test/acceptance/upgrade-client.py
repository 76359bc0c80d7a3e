"""Puts through a gateway, one at a time, and watches there; on SIGUSR1 prints the longest time without an acknowledged put.

Usage: upgrade-client.py HOST:PORT FILE-OF-ACKNOWLEDGED-VALUES
On SIGTERM, waits for the events of all acknowledged puts, and ends with 1 if one is missing, repeated, or out of order, or if the
watch ended.
"""
import base64
import http.client
import json
import signal
import sys
import threading
import time

ADDRESS, FILE = sys.argv[1:]
DEADLINE = 10
stopped = threading.Event()
reports = 0


def b64(text):
    return base64.b64encode(text.encode()).decode()


def on_report(*_):
    global reports
    reports += 1


class Watch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.values, self.fault, self.created = [], None, threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(ADDRESS)
        connection.request("POST", "/v3/watch", json.dumps(
            {"create_request": {"key": b64("put/"), "range_end": b64("put0"), "start_revision": "1"}}))
        last = 0
        for line in connection.getresponse():
            result = json.loads(line).get("result", {})
            self.created.set()
            if result.get("canceled"):
                break
            for event in result.get("events", []):
                revision = int(event["kv"]["mod_revision"])
                if revision <= last:
                    self.fault = f"revision {revision} after {last}"
                last = revision
                self.values.append(int(base64.b64decode(event["kv"]["value"])))
        self.fault = f"the watch ended: {line!r}"


signal.signal(signal.SIGUSR1, on_report)
signal.signal(signal.SIGTERM, lambda *_: stopped.set())
watch = Watch()
watch.start()
watch.created.wait(DEADLINE)
connection = http.client.HTTPConnection(ADDRESS, timeout=DEADLINE)
reported, number, failed = 0, 0, 0
last, longest = time.monotonic(), 0.0
with open(FILE, "w") as acknowledged:
    while not stopped.is_set():
        number += 1
        try:
            connection.request("POST", "/v3/kv/put", json.dumps({"key": b64(f"put/{number}"), "value": b64(str(number))}))
            response = connection.getresponse()
            response.read()
            done = response.status == 200
        except (OSError, http.client.HTTPException):
            connection.close()
            done = False
        if done:
            now = time.monotonic()
            longest, last = max(longest, now - last), now
            print(number, file=acknowledged, flush=True)
        else:
            failed += 1
        if reported < reports:
            reported += 1
            print(f"{number} puts, {failed} failed, longest gap {longest * 1000:.0f} ms", flush=True)
            longest = 0.0
        time.sleep(0.01)
expected = {int(line) for line in open(FILE)}
end = time.monotonic() + DEADLINE
while not expected <= set(watch.values) and time.monotonic() < end and not watch.fault:
    time.sleep(0.1)
missing = len(expected - set(watch.values))
repeated = len(watch.values) - len(set(watch.values))
print(f"watch: {len(watch.values)} events, {missing} missing, {repeated} repeated, {watch.fault or 'not interrupted'}")
sys.exit(1 if missing or repeated or watch.fault else 0)
