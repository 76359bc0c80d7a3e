#!/usr/bin/env python3
"""Reads a mirror's topics: the state at a revision, then every commit after it. For one partition.

Usage: read_topic.py BOOTSTRAP_SERVERS TOPIC
Needs confluent-kafka, whose default isolation level is read_committed.
"""
import hashlib
import sys

from confluent_kafka import Consumer, TopicPartition


# Headers that are numbers, by the kind of a record.
REQUIRED = {
    "commit": ["revision", "index", "size"],
    "snapshot": ["revision"],
    "snapshot-begin": ["revision"],
    "snapshot-end": ["revision"],
    "complete": ["revision", "previous", "records"],
}


def connect(servers):
    return Consumer({
        "bootstrap.servers": servers,
        "group.id": "unused",  # required by the client; nothing is committed
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": False,
        "auto.offset.reset": "error",
        "allow.auto.create.topics": False,
    })


def headers(record):
    """Headers as text; empty for a stray record."""
    found = {name: text(value) for name, value in record.headers() or [] if value is not None}
    version = found.get("understudy.format")
    if version is not None and version != "2":
        raise SystemExit(f"unknown format {version} at offset {record.offset()}")
    if found.get("understudy.partitions", "1") != "1":
        raise SystemExit("this example reads topics of one partition only")
    try:
        for name in REQUIRED[found["understudy.kind"]]:
            int(found["understudy." + name])
    except (KeyError, ValueError):
        return {}
    return found if version else {}


def text(value):
    return value.decode(errors="replace")


def poll(consumer):
    while True:
        record = consumer.poll(1.0)
        if record is not None:
            if record.error():
                raise SystemExit(f"Kafka: {record.error()}")
            return record


def digest(keys):
    total = sum(int.from_bytes(hashlib.sha256(key).digest()[:8], "big") for key in keys)
    return f"{len(keys)}:{total % 2**64:016x}"


def read_state(consumer, topic):
    """Returns the state, its revision and its generation."""
    partition = TopicPartition(topic + ".state", 0, 0)
    consumer.assign([partition])
    state, generation = {}, 0
    chained, changes, whole = 0, 0, False
    seen, newest = (0, 0), 0
    end = consumer.get_watermark_offsets(partition, timeout=10)[1]
    passed = False
    while True:
        record = poll(consumer)
        found = headers(record)
        key = record.key() or b""
        if not found:
            state.pop(key, None)  # stray: compaction may have removed the mirror's record
            continue
        if int(found.get("understudy.generation", 0)) < generation:
            continue
        if int(found.get("understudy.generation", 0)) > generation:
            generation = int(found["understudy.generation"])
            state.clear()
            chained, changes, seen, newest, whole = 0, 0, (0, 0), 0, False
        revision = int(found["understudy.revision"])
        newest = max(newest, revision)
        if key:
            if found["understudy.kind"] == "commit":
                place = (revision, int(found["understudy.index"]))
                if place > seen and revision > chained:
                    seen, changes = place, changes + 1
            if record.value() is None:
                state.pop(key, None)
            else:
                state[key] = record.value()
            continue
        kind = found["understudy.kind"]
        if kind == "complete" and revision > chained:
            whole = whole and int(found["understudy.previous"]) == chained \
                and int(found["understudy.records"]) == changes
        elif kind != "complete":
            whole = False
        if kind != "snapshot-begin" and revision > chained:
            chained, changes = revision, 0
        if record.offset() + 2 < end or kind == "snapshot-begin":
            continue  # a transaction's end takes an offset after its last mark
        if not passed or not whole:
            passed, whole = True, True
            end = consumer.get_watermark_offsets(partition, timeout=10)[1]
            continue
        if revision == newest and found.get("understudy.state") == digest(state):
            return state, revision, generation


def read_changes(consumer, topic, revision, generation):
    """Yields (revision, changes) of every commit after the revision."""
    partition = TopicPartition(topic, 0)
    first, end = consumer.get_watermark_offsets(partition, timeout=10)
    # For brevity from the beginning; a bisection by revision is faster.
    consumer.assign([TopicPartition(topic, 0, first)])
    mark, open_changes = None, []
    while True:
        record = poll(consumer)
        found = headers(record)
        if not found or int(found.get("understudy.generation", 0)) < generation:
            continue
        at, kind = int(found["understudy.revision"]), found["understudy.kind"]
        if int(found.get("understudy.generation", 0)) > generation \
                or (kind.startswith("snapshot") and at > revision):
            raise SystemExit("the mirror rewrote the state: start again")
        if kind == "commit":
            if not open_changes or (at, int(found["understudy.index"])) > open_changes[-1][:2]:
                if mark is None or at > mark:
                    open_changes.append((at, int(found["understudy.index"]), record.key(), record.value()))
        elif kind == "complete" and (mark is None or at > mark):
            expected = int(found["understudy.records"])
            if mark is not None and (int(found["understudy.previous"]) != mark or expected != len(open_changes)):
                raise SystemExit(f"records are missing before offset {record.offset()}: start again")
            if mark is None and int(found["understudy.previous"]) > revision:
                raise SystemExit("the topic no longer has what follows the state: start again")
            for each in sorted({change[0] for change in open_changes}):
                if each > revision:
                    yield each, [change[2:] for change in open_changes if change[0] == each]
            mark, open_changes = at, []
        elif kind == "snapshot-end" and (mark is None or at > mark):
            mark, open_changes = at, []


def main():
    servers, topic = sys.argv[1:3]
    consumer = connect(servers)
    state, revision, generation = read_state(consumer, topic)
    for key, value in sorted(state.items()):
        print(f"state: {text(key)} = {text(value)}", flush=True)
    print(f"state at {revision} is complete", flush=True)
    for at, changes in read_changes(consumer, topic, revision, generation):
        for key, value in changes:
            print(f"{at}: {text(key)}" + (" is gone" if value is None else f" = {text(value)}"), flush=True)


if __name__ == "__main__":
    main()
