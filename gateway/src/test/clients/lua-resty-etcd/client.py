"""Sends the requests of lua-resty-etcd, the client of APISIX, to the endpoint given; prints one line per step.

As lua-resty-etcd does: JSON without Content-Type, all fields of a range, kept connections, a watch read by chunks that end with a
line.
"""
import base64
import http.client
import json
import sys

HOST = sys.argv[1]
RANGE = dict(limit=0, revision=0, sort_order=0, sort_target=0, serializable=False, keys_only=False, count_only=False,
             min_mod_revision=0, max_mod_revision=0, min_create_revision=0, max_create_revision=0)
section = None
number = 0
kept = http.client.HTTPConnection(HOST, timeout=20)


def b64(text):
    return base64.b64encode(text.encode()).decode()


def begin(name):
    global section, number
    section, number = name, 0


def out(what, result):
    global number
    number += 1
    print(f"{section} {number}: {what} {result}", flush=True)


def send(connection, method, path, body=None, headers=()):
    data = None if body is None else json.dumps(body).encode()
    connection.putrequest(method, path, skip_accept_encoding=True)
    connection.putheader("User-Agent", "lua-resty-http/0.16.1 (Lua) ngx_lua/10025")
    for name, value in headers:
        connection.putheader(name, value)
    if data is not None:
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data)
    return connection.getresponse()


def post(what, path, body=None, headers=()):
    response = send(kept, "POST", "/v3" + path, body, headers)
    text = response.read().decode().strip()
    out(what, f"{response.status} {response.headers['Content-Type']} {text}")
    return json.loads(text)


def get(what, key, **more):
    if "range_end" in more:
        more["range_end"] = b64(more["range_end"])
    return post(what, "/kv/range", {**RANGE, "key": b64(key), **more})


def put(what, key, value, **more):
    return post(what, "/kv/put", {"value": b64(json.dumps(value)), "key": b64(key), **more})


def watch(what, create, events, between=lambda: None):
    """Prints the events, however they are divided into chunks."""
    connection = http.client.HTTPConnection(HOST, timeout=20)
    response = send(connection, "POST", "/v3/watch", {"create_request": create})
    out(what, f"{response.status} {response.headers['Content-Type']} {response.headers['Transfer-Encoding']}")
    seen, chunk, started = [], b"", False
    while len(seen) < events:
        chunk += response.read1(65536)
        if not chunk.endswith(b"\n"):
            continue
        for line in chunk.splitlines():
            result = json.loads(line)["result"]
            if result.get("created"):
                out("created", json.dumps({k: v for k, v in result.items() if k != "header"}))
            seen += result.get("events", [])
        chunk = b""
        if not started:
            started = True
            between()
    for event in seen:
        out("event", json.dumps(event))
    connection.close()


print("client: lua-resty-etcd 1.9.0 of APISIX, replayed")

begin("KV")
response = send(kept, "GET", "/version")
version = json.loads(response.read())
out("version", f"{response.status} {version['etcdserver']} {version['etcdcluster']}")
first = int(put("set", "/apisix/routes/1", {"uri": "/one"})["header"]["revision"])
put("set with prev_kv", "/apisix/routes/1", {"uri": "/1"}, prev_kv=True)
put("set", "/apisix/routes/2", {"uri": "/ü \" \\ /"})
put("set", "/apisix/upstreams/1", {"nodes": {}})
put("ignore_value of an absent key", "/apisix/absent", "", ignore_value=True)
get("get", "/apisix/routes/1")
get("get absent", "/apisix/absent")
get("empty key", "")
get("readdir", "/apisix/routes/", range_end="/apisix/routes0")
get("readdir of all", "/apisix/", range_end="/apisix0", limit=2)
get("readdir sorted", "/apisix/", range_end="/apisix0", sort_order=2, sort_target=3)
get("readdir, count", "/apisix/", range_end="/apisix0", count_only=True)
get("readdir, keys", "/apisix/", range_end="/apisix0", keys_only=True, serializable=True)
get("readdir at a revision", "/apisix/", range_end="/apisix0", revision=first)
get("readdir of the future", "/apisix/", range_end="/apisix0", revision=first + 1000)
get("from min_mod_revision", "/apisix/", range_end="/apisix0", min_mod_revision=first + 2)

begin("transactions")


def absent(key):
    return {"target": "CREATE", "key": b64(key), "createRevision": 0}


def request_put(key, value):
    return {"requestPut": {"key": b64(key), "value": b64(value)}}


for _ in range(2):
    post("setnx", "/kv/txn", {"compare": [absent("/apisix/nx")], "success": [request_put("/apisix/nx", "1")]})
post("setx", "/kv/txn", {"compare": [absent("/apisix/nx")], "failure": [request_put("/apisix/nx", "2")]})
post("txn", "/kv/txn", {
    "compare": [{"target": "VALUE", "result": "EQUAL", "key": b64("/apisix/nx"), "value": b64("2")}],
    "success": [{"requestRange": {"key": b64("/apisix/nx")}}, {"requestDeleteRange": {"key": b64("/apisix/nx")}}],
    "failure": [request_put("/apisix/nx", "3")]})
post("unknown target", "/kv/txn", {"compare": [{"target": "NONE", "key": b64("/apisix/nx")}], "success": []})

begin("watches")
watch("watchdir from the past", {"key": b64("/apisix/"), "range_end": b64("/apisix0"), "start_revision": first, "prev_kv": True}, 7)


def change():
    put("set", "/apisix/routes/3", {"uri": "/three"})
    post("delete", "/kv/deleterange", {"key": b64("/apisix/routes/3"), "prev_kv": True})


watch("watchdir", {"key": b64("/apisix/routes/"), "range_end": b64("/apisix/routes0"), "prev_kv": True}, 2, change)
watch("watch without deletions", {"key": b64("/apisix/routes/"), "range_end": b64("/apisix/routes0"), "filters": [1],
                                 "progress_notify": True, "fragment": True, "watch_id": 7}, 1, change)

begin("leases")
lease = post("grant", "/lease/grant", {"TTL": 600, "ID": 0})["ID"]
post("grant of an own ID", "/lease/grant", {"TTL": 600, "ID": 4711})
post("grant of an ID in use", "/lease/grant", {"TTL": 600, "ID": 4711})
put("set", "/apisix/leased", {"a": 1}, lease=lease)
put("set", "/apisix/lease of another", {"a": 1}, lease="4712")
post("keepalive", "/lease/keepalive", {"ID": lease})
post("leases", "/lease/leases")
ttl = send(kept, "POST", "/v3/kv/lease/timetolive", {"ID": lease, "keys": True})
body = json.loads(ttl.read())
out("timetolive", f"{ttl.status} {body['grantedTTL']} {body['keys']}")
post("revoke", "/kv/lease/revoke", {"ID": lease})
post("revoke", "/kv/lease/revoke", {"ID": 4711})
post("revoke of an absent one", "/kv/lease/revoke", {"ID": 4711})
get("get", "/apisix/leased")

begin("users")
post("authenticate", "/auth/authenticate", {"name": "root", "password": "x"})
post("get with a token", "/kv/range", {**RANGE, "key": b64("/apisix/routes/1")}, [("Authorization", "invalid")])

begin("deletions")
post("delete", "/kv/deleterange", {"key": b64("/apisix/routes/2")})
post("delete of an absent key", "/kv/deleterange", {"key": b64("/apisix/routes/2")})
post("rmdir", "/kv/deleterange", {"key": b64("/apisix/"), "range_end": b64("/apisix0"), "prev_kv": True})
