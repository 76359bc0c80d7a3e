"""Uses each part of etcd-client-py at the endpoint given; prints one line per step."""
import asyncio
import sys
from importlib.metadata import version

from etcd_client import (
    Client, ClientError, Compare, CompareOp, CondVar, EtcdLockOption, GRPCStatusError, LeaseKeepAliveError, Txn, TxnOp)

section, number = None, 0


def begin(name):
    global section, number
    section, number = name, 0


def text(result):
    if isinstance(result, (list, tuple)) and all(isinstance(each, int) for each in result):
        result = bytes(result)
    if isinstance(result, (list, tuple)):
        return '[' + '; '.join(text(each) for each in result) + ']'
    return result.decode() if isinstance(result, bytes) else ' '.join(str(result).split())


async def step(name, call):
    global number
    number += 1
    try:
        print(f'{section} {number}: {name} {text(await call)}')
    except (ClientError, GRPCStatusError, LeaseKeepAliveError) as e:
        print(f'{section} {number}: {name} {type(e).__name__} {e}')


async def watched(watch, count):
    events = []
    async for event in watch:
        events.append(str(event))
        if len(events) == count:
            return events


async def main():
    print('client: Python etcd-client-py', version('etcd-client-py'))
    client = Client(['http://' + sys.argv[1]])
    async with client.connect() as c:
        begin('KV')
        await step('empty transaction', c.txn(Txn()))
        for key in (b'k/1', b'k/2', b'k/3'):
            await step('put', c.put(key, b'value of ' + key))
        await step('put without key', c.put(b'', b'x'))
        await step('get', c.get(b'k/1'))
        await step('get absent', c.get(b'absent'))
        await step('prefix', c.get_prefix(b'k/'))
        await step('keys', c.keys_prefix(b'k/'))
        await step('delete', c.delete(b'k/1'))
        await step('delete absent', c.delete(b'k/1'))
        await step('delete prefix', c.delete_prefix(b'k/'))
        await step('get', c.get(b'k/2'))

        begin('transactions')
        await c.put(b't/1', b'one')
        for name, compares in (
                ('then', [Compare.value(b't/1', CompareOp.EQUAL, b'one'), Compare.version(b't/2', CompareOp.EQUAL, 0)]),
                ('else', [Compare.create_revision(b't/1', CompareOp.EQUAL, 0)])):
            await step(name, c.txn(Txn().when(compares).and_then([TxnOp.put(b't/2', b'two'), TxnOp.get(b't/1')])
                                   .or_else([TxnOp.get(b't/2'), TxnOp.delete(b't/2')])))
            await step('get', c.get(b't/2'))

        begin('watches')
        ready = CondVar()
        key = asyncio.create_task(watched(c.watch(b'w/1', ready_event=ready), 3))
        await ready.wait()
        ready = CondVar()
        prefix = asyncio.create_task(watched(c.watch_prefix(b'w/', ready_event=ready), 4))
        await ready.wait()
        await c.put(b'w/1', b'one')
        await c.put(b'w/2', b'two')
        await c.put(b'w/1', b'again')
        await c.delete(b'w/1')
        await step('key', key)
        await step('prefix', prefix)

        begin('leases')
        await step('grant', c.lease_grant(600))
        await step('time to live of an unknown one', c.lease_time_to_live(77))
        await step('keep alive of an unknown one', c.lease_keep_alive(77))
        await step('revoke of an unknown one', c.lease_revoke(77))

    begin('locks')
    async with client.with_lock(EtcdLockOption(lock_name=b'lock', ttl=60)) as c:
        await step('held', c.put(b'm', b'one'))
    async with client.with_lock(EtcdLockOption(lock_name=b'lock', ttl=60, timeout=30.0)) as c:
        await step('held again', c.get(b'm'))


asyncio.run(main())
