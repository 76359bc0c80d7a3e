"""Uses each part of etcd3gw, through JSON, at the endpoint given; prints one line per step."""
import base64
import sys
from importlib.metadata import version

import etcd3gw
from etcd3gw.exceptions import Etcd3Exception

section, number = None, 0


def begin(name):
    global section, number
    section, number = name, 0


def text(result):
    return result.decode() if isinstance(result, bytes) else str(result)


def step(name, call):
    global number
    number += 1
    try:
        print(f'{section} {number}: {name} {text(call())}')
    except Etcd3Exception as e:
        print(f'{section} {number}: {name} {type(e).__name__} {e} {getattr(e, "detail_text", "")}'.replace('\n', ' '))


def encoded(value):
    return base64.b64encode(value.encode()).decode()


host, port = sys.argv[1].split(':')
c = etcd3gw.client(host, int(port), timeout=30)
print('client: Python etcd3gw', version('etcd3gw'))

begin('KV')
step('put', lambda: c.put('k/1', 'one'))
step('get', lambda: c.get('k/1', metadata=True))
first = int(c.get('k/1', metadata=True)[0][1]['mod_revision'])
for key in ('k/2', 'k/3', 'k/4'):
    step('put', lambda: c.put(key, 'value of ' + key))
step('put without key', lambda: c.put('', 'x'))
step('get', lambda: c.get('k/1'))
step('get absent', lambda: c.get('absent'))
step('get serializable', lambda: c.get('k/1', serializable=True))
step('get at revision', lambda: c.get('k/', metadata=True, range_end='k0', revision=first + 1))
step('get future', lambda: c.get('k/', revision=first + 100000))
step('limit', lambda: c.get('k/', range_end='k0', limit=2))
step('count', lambda: c.get('k/', range_end='k0', count_only=True))
step('keys', lambda: c.get('k/', metadata=True, range_end='k0', keys_only=True))
step('filtered', lambda: c.get('k/', range_end='k0', min_mod_revision=first + 2, max_create_revision=first + 2))
step('prefix', lambda: c.get_prefix('k/', sort_order='descend', sort_target='mod'))
step('prefix by value', lambda: c.get_prefix('k/', sort_order='ascend', sort_target='value'))
step('all', lambda: c.get_all())
step('create', lambda: c.create('k/5', 'five'))
step('create', lambda: c.create('k/5', 'x'))
step('replace', lambda: c.replace('k/5', 'five', 'six'))
step('replace', lambda: c.replace('k/5', 'five', 'x'))
step('delete', lambda: c.delete('k/5', prev_kv=True))
step('delete absent', lambda: c.delete('k/5'))
step('delete prefix', lambda: c.delete_prefix('k/'))
step('compact', lambda: c.post(c.get_url('/kv/compaction'), json={'revision': first + 1}))
step('compacted', lambda: c.get('k/', revision=first))

begin('transactions')
c.put('t/1', 'one')
step('then', lambda: c.transaction({
    'compare': [{'key': encoded('t/1'), 'target': 'VALUE', 'result': 'EQUAL', 'value': encoded('one')},
                {'key': encoded('t/2'), 'target': 'CREATE', 'create_revision': 0}],
    'success': [{'request_put': {'key': encoded('t/2'), 'value': encoded('two'), 'prev_kv': True}},
                {'request_range': {'key': encoded('t/1')}}, {'request_delete_range': {'key': encoded('t/1')}}]}))
step('else, reads only', lambda: c.transaction({
    'compare': [{'key': encoded('t/2'), 'target': 'VERSION', 'result': 'GREATER', 'version': 7}],
    'failure': [{'request_range': {'key': encoded('t/'), 'range_end': encoded('t0')}}]}))
step('the same key twice', lambda: c.transaction({'success': [{'request_put': {'key': encoded('t/3')}}] * 2}))

begin('watches')
c.put('w/1', 'one')
first = int(c.get('w/1', metadata=True)[0][1]['mod_revision'])
events, cancel = c.watch('w/1')
prefix, cancel_prefix = c.watch_prefix('w/', start_revision=first)
c.put('w/1', 'again')
c.put('w/2', 'two')
c.delete('w/1')
step('key', lambda: [next(events) for _ in range(2)])
step('prefix', lambda: [next(prefix) for _ in range(4)])
cancel()
cancel_prefix()
step('once', lambda: c.watch_once('w/1', timeout=30, start_revision=first))
step('nothing', lambda: c.watch_once('w/none', timeout=1))

begin('leases')
lease = c.lease(600)
step('lease', lambda: lease.id)
step('put', lambda: c.put('l/1', 'one', lease=lease))
step('get', lambda: c.get('l/1', metadata=True))
step('refresh', lambda: lease.refresh())
step('time to live', lambda: (lease.ttl() > 0, lease.keys()))
step('revoke', lambda: lease.revoke())
step('get', lambda: c.get('l/1'))
step('revoke again', lambda: lease.revoke())
step('refresh', lambda: lease.refresh())
step('time to live', lambda: lease.ttl())

begin('locks')
lock, other = c.lock('lock', ttl=600), c.lock('lock', ttl=600)
step('acquire', lambda: lock.acquire())
step('acquire, in vain', lambda: other.acquire())
step('acquired', lambda: (lock.is_acquired(), other.is_acquired()))
step('refresh', lambda: lock.refresh())
step('release', lambda: (other.release(), lock.release()))
step('acquire', lambda: other.acquire())
step('release', lambda: other.release())

begin('cluster')
step('members', lambda: [(each['ID'], each['name'], len(each['peerURLs']), len(each['clientURLs'])) for each in c.members()])
step('status', lambda: c.status()['version'].replace('+understudy', ''))
