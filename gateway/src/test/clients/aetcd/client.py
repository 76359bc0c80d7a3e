"""Uses each part of aetcd at the endpoint given; prints one line per step."""
import asyncio
import io
import sys
from importlib.metadata import version

import aetcd

section, number = None, 0


def begin(name):
    global section, number
    section, number = name, 0


def text(result):
    if isinstance(result, (list, tuple)):
        return '[' + '; '.join(text(each) for each in result) + ']'
    return ' '.join(str(result).split())


async def step(name, call):
    global number
    number += 1
    try:
        print(f'{section} {number}: {name} {text(await call)}')
    except (AttributeError, NameError, TypeError):
        raise
    except Exception as e:
        details = [each.details() for each in (e, e.__context__) if hasattr(each, 'details')]
        details = details or [str(e).replace('below', 'below revision')]
        print(f'{section} {number}: {name} {type(e).__name__} {" ".join(details)}')


async def taken(watch, count):
    events = watch.__aiter__()
    return [await asyncio.wait_for(events.__anext__(), 30) for _ in range(count)]


async def main():
    host, port = sys.argv[1].split(':')
    print('client: Python aetcd', version('aetcd'))
    async with aetcd.Client(host, int(port), timeout=30) as c:
        begin('KV')
        await step('put', c.put(b'k/1', b'one'))
        first = (await c.get(b'k/1')).header.revision
        await step('put with previous', c.put(b'k/1', b'again', prev_kv=True))
        for key in (b'k/2', b'k/3', b'k/4'):
            await step('put', c.put(key, b'value of ' + key))
        await step('put with an unknown lease', c.put(b'k/1', b'x', lease=12345))
        await step('put without key', c.put(b'', b'x'))
        await step('get', c.get(b'k/1'))
        await step('get absent', c.get(b'absent'))
        await step('get serializable', c.get(b'k/1', serializable=True))
        prefix = await c.get_prefix(b'k/', sort_order='descend', sort_target='mod')
        await step('prefix', asyncio.sleep(0, (prefix.header, prefix.count, prefix.more, list(prefix))))
        for name, call in (('keys', c.get_prefix(b'k/', keys_only=True)), ('range', c.get_range(b'k/2', b'k/4')),
                           ('by value', c.get_range(b'k/', b'k0', sort_order='ascend', sort_target='value')),
                           ('all', c.get_all())):
            await step(name, asyncio.sleep(0, list(await call)))
        await step('replace', c.replace(b'k/4', b'value of k/4', b'four'))
        await step('replace', c.replace(b'k/4', b'value of k/4', b'x'))
        await step('delete', c.delete(b'k/4', prev_kv=True))
        await step('delete absent', c.delete(b'k/4'))
        await step('delete range', c.delete_range(b'k/3', b'k/4'))
        await step('delete prefix', c.delete_prefix(b'k/', prev_kv=True))
        await step('compact', c.compact(first + 1, physical=True))
        await step('compact again', c.compact(first + 1))
        await step('compact future', c.compact(first + 100000))

        begin('transactions')
        t = c.transactions
        await c.put(b't/1', b'one')
        await step('then', c.transaction(
            compare=[t.value(b't/1') == b'one', t.version(b't/1') > 0, t.create(b't/2') == 0],
            success=[t.put(b't/2', b'two'), t.get(b't/1'), t.delete(b't/1')], failure=[]))
        await step('else', c.transaction(
            compare=[t.mod(b't/2') == 0], success=[], failure=[t.get(b't/2'), t.txn([], [t.get(b't/1')], [])]))
        await step('reads only', c.transaction(compare=[t.version(b't/2') != 7], success=[t.get(b't/2')], failure=[]))
        await step('the same key twice', c.transaction(
            compare=[], success=[t.put(b't/3', b'a'), t.put(b't/3', b'b')], failure=[]))

        begin('watches')
        start = (await c.get(b't/2')).header.revision + 1
        key = await c.watch(b'w/1')
        prefix = await c.watch_prefix(b'w/', prev_kv=True)
        deletes = await c.watch_prefix(b'w/', kind=aetcd.EventKind.DELETE)
        await c.put(b'w/1', b'one')
        await c.put(b'w/1', b'again')
        await c.transaction(compare=[], success=[t.put(b'w/2', b'two'), t.delete(b'w/1')], failure=[])
        await step('key', taken(key, 3))
        await step('prefix', taken(prefix, 4))
        await step('deletes', taken(deletes, 1))
        for each in (key, prefix, deletes):
            await each.cancel()
        await step('past', taken(await c.watch_prefix(b'w/', start_revision=start), 4))
        await step('once', c.watch_once(b'w/1', timeout=30, start_revision=start))
        await step('nothing', c.watch_once(b'w/none', timeout=1))

        async def compacted():
            return await taken(await c.watch(b'w/1', start_revision=1), 1)
        await step('compacted', compacted())

        begin('leases')
        lease = await c.lease(600)
        await step('lease', asyncio.sleep(0, (lease.id, lease.ttl)))
        await step('with the same id', c.lease(600, lease.id))
        await step('put', c.put(b'l/1', b'one', lease=lease))
        await step('get', c.get(b'l/1'))
        await step('refresh', lease.refresh())
        await step('granted', lease.granted_ttl())
        await step('keys', lease.keys())
        deleted = await c.watch(b'l/1')
        await step('revoke', lease.revoke())
        await step('watch', taken(deleted, 1))
        await step('revoke again', lease.revoke())
        await step('refresh', lease.refresh())
        await c.put(b'l/1', b'one', lease=await c.lease(1))
        await step('expires', taken(deleted, 2))

        begin('locks')
        lock, other = c.lock(b'lock', ttl=600), c.lock(b'lock', ttl=600)
        await step('acquire', lock.acquire())
        await step('acquire, in vain', other.acquire(timeout=0))
        await step('acquired', lock.is_acquired())
        await step('refresh', lock.refresh())
        waiting = asyncio.create_task(other.acquire(timeout=30))
        await step('release', lock.release())
        await step('acquire', waiting)
        await step('release', other.release())

        begin('cluster')
        members = [each async for each in c.members()] if hasattr(c.members(), '__aiter__') else list(await c.members())
        await step('members', asyncio.sleep(0, [(m.id, m.name, len(m.peer_urls), len(m.client_urls)) for m in members]))
        await step('status', asyncio.sleep(0, (await c.status()).version.replace('+understudy', '')))
        await step('removal of an unknown member', c.remove_member(12345))
        snapshot = io.BytesIO()
        await c.snapshot(snapshot)
        await step('snapshot', asyncio.sleep(0, snapshot.tell() > 10000))


asyncio.run(main())
