"""Uses each part of etcd3, or of its successor pyetcd, at the endpoint given; prints one line per step."""
import io
import sys
import threading
from importlib.metadata import version

try:
    import pyetcd as etcd3
except ImportError:
    import etcd3

section, number = None, 0


def begin(name):
    global section, number
    section, number = name, 0


def text(result):
    if isinstance(result, (list, tuple)):
        return '[' + '; '.join(text(each) for each in result) + ']'
    if isinstance(result, bytes):
        return result.decode()
    if type(result).__name__ == 'KVMetadata':
        return (f'{text(result.key)} create={result.create_revision} mod={result.mod_revision} version={result.version} '
                f'lease={result.lease_id} {text(result.response_header)}')
    if isinstance(result, etcd3.events.Event):
        return f'{type(result).__name__} {text(result.key)}={text(result.value)} {text(result._event)}'
    return ' '.join(str(result).split())


def step(name, call):
    global number
    number += 1
    try:
        print(f'{section} {number}: {name} {text(call())}')
    except (AttributeError, NameError, TypeError):
        raise
    except Exception as e:
        details = [f'{each.code().name} {each.details()}' for each in (e, e.__context__) if hasattr(each, 'details')]
        print(f'{section} {number}: {name} {type(e).__name__} {" ".join(details)}')


host, port = sys.argv[1].split(':')
c = etcd3.client(host, int(port), timeout=30)
name = 'etcd3' if etcd3.__name__ == 'etcd3' else 'etcd-sdk-python'
print('client: Python', name, version(name))

begin('KV')
step('put', lambda: c.put('k/1', 'one'))
first = c.get_response('k/1').header.revision
step('put with previous', lambda: c.put('k/1', 'again', prev_kv=True))
for key in ('k/2', 'k/3', 'k/4'):
    step('put', lambda: c.put(key, 'value of ' + key))
step('put with an unknown lease', lambda: c.put('k/1', 'x', lease=12345))
step('put without key', lambda: c.put('', 'x'))
step('get', lambda: c.get('k/1'))
step('get absent', lambda: c.get('absent'))
step('get serializable', lambda: c.get('k/1', serializable=True))
step('get response', lambda: c.get_response('k/1'))
step('prefix', lambda: list(c.get_prefix('k/')))
step('prefix descending', lambda: list(c.get_prefix('k/', sort_order='descend', sort_target='mod')))
step('prefix by value', lambda: list(c.get_prefix('k/', sort_order='ascend', sort_target='value')))
step('keys', lambda: list(c.get_prefix('k/', keys_only=True)))
step('range', lambda: list(c.get_range('k/2', 'k/4')))
step('all', lambda: list(c.get_all()))
step('put if not exists', lambda: c.put_if_not_exists('k/5', 'five'))
step('put if not exists', lambda: c.put_if_not_exists('k/5', 'x'))
step('replace', lambda: c.replace('k/5', 'five', 'six'))
step('replace', lambda: c.replace('k/5', 'five', 'x'))
step('delete', lambda: c.delete('k/5', prev_kv=True, return_response=True))
step('delete absent', lambda: c.delete('k/5'))
step('delete prefix', lambda: c.delete_prefix('k/'))
step('compact', lambda: c.compact(first + 1, physical=True))
step('compact again', lambda: c.compact(first + 1))
step('compact future', lambda: c.compact(first + 100000))

begin('transactions')
t = c.transactions
c.put('t/1', 'one')
step('then', lambda: c.transaction(
    compare=[t.value('t/1') == 'one', t.version('t/1') > 0, t.create('t/2') == 0],
    success=[t.put('t/2', 'two'), t.get('t/1'), t.delete('t/1')], failure=[]))
step('else', lambda: c.transaction(
    compare=[t.mod('t/2') == 0], success=[], failure=[t.get('t/2'), t.txn([], [t.get('t/1')], [])]))
step('reads only', lambda: c.transaction(compare=[t.version('t/2') != 7], success=[t.get('t/2')], failure=[]))
step('the same key twice', lambda: c.transaction(compare=[], success=[t.put('t/3', 'a'), t.put('t/3', 'b')], failure=[]))
step('too large', lambda: c.put('t/4', 'x' * 1600000))

begin('watches')
key, cancel_key = c.watch('w/1')
prefix, cancel_prefix = c.watch_prefix('w/', prev_kv=True)
start = c.get_response('w/1').header.revision + 1
c.put('w/1', 'one')
c.put('w/1', 'again')
c.transaction(compare=[], success=[t.put('w/2', 'two'), t.delete('w/1')], failure=[])
step('key', lambda: [next(key) for _ in range(3)])
step('prefix', lambda: [next(prefix) for _ in range(4)])
cancel_key()
cancel_prefix()
step('cancelled', lambda: list(key))
past, cancel_past = c.watch_prefix('w/', start_revision=start)
step('past', lambda: [next(past) for _ in range(4)])
cancel_past()
step('compacted', lambda: next(c.watch('w/1', start_revision=1)[0]))
step('once', lambda: c.watch_once('w/none', timeout=1))
seen = threading.Event()
watched = []


def callback(response):
    watched.extend(response.events)
    seen.set()


identifier = c.add_watch_callback('w/3', callback)
c.put('w/3', 'three')
step('callback', lambda: (seen.wait(30), watched))
c.cancel_watch(identifier)
progress, cancel_progress = c.watch_response('w/1', progress_notify=True)
c.put('w/1', 'last')
step('response', lambda: next(progress).events)
cancel_progress()

begin('leases')
lease = c.lease(600)
step('lease', lambda: (lease.id, lease.ttl))
step('with an id', lambda: c.lease(600, 77).id)
step('with the same id', lambda: c.lease(600, 77))
step('put', lambda: c.put('l/1', 'one', lease=lease))
step('get', lambda: c.get('l/1'))
step('refresh', lambda: lease.refresh())
step('granted', lambda: (lease.granted_ttl, lease.remaining_ttl > 0, list(lease.keys)))
deleted, cancel_deleted = c.watch('l/1')
step('revoke', lambda: lease.revoke())
step('watch', lambda: next(deleted))
step('revoke again', lambda: lease.revoke())
step('refresh', lambda: lease.refresh())
step('revoke', lambda: c.revoke_lease(77))
c.put('l/1', 'one', lease=c.lease(1))
step('expires', lambda: [next(deleted), next(deleted)])
cancel_deleted()

begin('locks')
lock, other = c.lock('lock', ttl=600), c.lock('lock', ttl=600)
step('acquire', lambda: lock.acquire())
step('acquired', lambda: (lock.is_acquired(), other.is_acquired()))
step('refresh', lambda: lock.refresh())
step('release', lambda: lock.release())
step('acquire', lambda: other.acquire())
step('release', lambda: (lock.release(), other.release()))

begin('cluster')
step('members', lambda: [(m.id, m.name, len(list(m.peer_urls)), len(list(m.client_urls))) for m in c.members])
step('status', lambda: c.status().version.replace('+understudy', ''))
step('alarms', lambda: list(c.list_alarms()))
step('removal of an unknown member', lambda: c.remove_member(12345))
step('update of an unknown member', lambda: c.update_member(12345, ['http://127.0.0.1:1']))
step('alarm', lambda: [(a.alarm_type) for a in c.create_alarm()])
step('put', lambda: c.put('a', 'x'))
step('disarm', lambda: len(list(c.disarm_alarm())))
step('put', lambda: c.put('a', 'x'))
snapshot = io.BytesIO()
step('snapshot', lambda: (c.snapshot(snapshot), snapshot.tell() > 10000))
c.close()
