// Uses each part of etcd3 at the endpoint given; prints one line per step.
const { Etcd3 } = require('etcd3');

const client = new Etcd3({ hosts: process.argv[2] });
let section, number;

function begin(name) { section = name; number = 0; }

function text(result) {
  return JSON.stringify(result, (key, value) => {
    if (value && value.type === 'Buffer') return Buffer.from(value.data).toString();
    return value;
  });
}

async function step(name, call) {
  number++;
  const at = `${section} ${number}: ${name} `;
  try {
    console.log(at + text(await call()));
  } catch (e) {
    if (e instanceof TypeError || e instanceof ReferenceError) throw e;
    console.log(`${at}${e.constructor.name} ${e.message}`);
  }
}

const event = (emitter, name) => new Promise(resolve => emitter.once(name, (...values) => resolve([name, ...values])));

function collect(watcher, count) {
  const events = [];
  return new Promise(resolve => {
    for (const kind of ['put', 'delete']) {
      watcher.on(kind, (...values) => {
        events.push([kind, ...values]);
        if (events.length === count) resolve(events);
      });
    }
  });
}

async function main() {
  console.log('client: Node.js etcd3 ' + require('etcd3/package.json').version);

  begin('KV');
  const put = await client.put('k/1').value('one').exec();
  const first = Number(put.header.revision);
  await step('put', () => put);
  await step('put', () => client.put('k/1').value('again').exec());
  for (const key of ['k/2', 'k/3', 'k/4']) await step('put', () => client.put(key).value('value of ' + key));
  await step('put without key', () => client.put('').value('x'));
  await step('put with an unknown lease', () => client.put('k/1').value('x').lease(12345));
  await step('touch', () => client.put('k/2').touch());
  await step('get', () => client.get('k/1').exec());
  await step('get absent', () => client.get('absent').string());
  await step('exists', () => client.get('k/1').exists());
  await step('serializable', () => client.get('k/1').serializable(true).string());
  await step('prefix', () => client.getAll().prefix('k/').exec());
  await step('range', () => client.getAll().inRange({ start: 'k/2', end: 'k/4' }).strings());
  await step('sorted', () => client.getAll().prefix('k/').sort('Mod', 'Descend').keys());
  await step('limit', () => client.getAll().prefix('k/').limit(2).exec());
  await step('count', () => client.getAll().prefix('k/').count());
  await step('at revision', () => client.getAll().prefix('k/').revision(first + 2).exec());
  await step('future', () => client.getAll().prefix('k/').revision(first + 100000).exec());
  await step('filtered', () => client.getAll().minModRevision(first + 2).maxCreateRevision(first + 3).exec());
  await step('delete', () => client.delete().key('k/1').getPrevious());
  await step('delete prefix', () => client.delete().prefix('k/').exec());

  begin('transactions');
  await client.put('t/1').value('one');
  const txn = () => client.if('t/1', 'Value', '==', 'one').and('t/2', 'Create', '==', 0)
    .then(client.put('t/2').value('two'), client.get('t/1'), client.delete().key('t/1'))
    .else(client.get('t/2'), client.getAll().prefix('t/')).commit();
  await step('then', txn);
  await step('else', txn);

  begin('watches');
  const start = (await client.get('w/1').exec()).header.revision;
  const key = await client.watch().key('w/1').withPreviousKV().create();
  const prefix = await client.watch().prefix('w/').create();
  const deletes = await client.watch().prefix('w/').only('delete').create();
  const collected = [collect(key, 3), collect(prefix, 4), collect(deletes, 1)];
  await client.put('w/1').value('one');
  await client.put('w/1').value('again');
  await client.put('w/2').value('two');
  await client.delete().key('w/1');
  await step('key', () => collected[0]);
  await step('prefix', () => collected[1]);
  await step('deletes', () => collected[2]);
  for (const each of [key, prefix, deletes]) await step('cancel', () => each.cancel());
  const past = client.watch().prefix('w/').startRevision(String(Number(start) + 1)).watcher();
  await step('past', () => collect(past, 4));
  await past.cancel();

  begin('leases');
  const lease = client.lease(600, { autoKeepAlive: false });
  await step('grant', () => lease.grant());
  await step('put', () => lease.put('l/1').value('one'));
  await step('get', () => client.get('l/1').exec());
  await step('keep alive', () => lease.keepaliveOnce());
  const revoked = await client.watch().key('l/1').create();
  const deleted = event(revoked, 'delete');
  await step('revoke', () => lease.revoke());
  await step('watch', () => deleted);
  await step('keep alive', () => lease.keepaliveOnce());
  await revoked.cancel();

  begin('locks');
  const lock = client.lock('lock').ttl(600);
  await step('acquire', () => lock.acquire().then(() => 'ok'));
  await step('acquire, in vain', () => client.lock('lock').acquire());
  await step('release', () => lock.release());
  await step('do', () => client.lock('lock').do(() => client.get('lock').exists()));

  begin('election');
  const election = client.election('election', 600);
  await step('no leader', () => election.leader());
  const campaign = election.campaign('first');
  await step('elected', () => campaign.wait().then(() => 'ok'));
  await step('key', () => campaign.getCampaignKey());
  await step('leader', () => election.leader());
  const observer = await election.observe();
  const changed = event(observer, 'change');
  await step('observed', () => observer.leader());
  await step('proclaim', () => campaign.proclaim('second'));
  await step('observed', () => changed);
  await observer.cancel();
  await step('resign', () => campaign.resign());
  await step('no leader', () => election.leader());

  begin('STM');
  await client.put('stm/a').value('1');
  // The names of the isolation levels are not exported: SerializableSnapshot, Serializable, RepeatableReads, ReadCommitted.
  for (let isolation = 0; isolation < 4; isolation++) {
    let tries = 0;
    await step('isolation ' + isolation, () => client.stm({ isolation }).transact(async tx => {
      const value = await tx.get('stm/a');
      if (++tries === 1 && isolation < 3) await client.put('stm/a').value(value + "'");
      await tx.put('stm/a').value(value + '+');
      return tries;
    }));
    await step('get', () => client.get('stm/a').exec());
  }

  begin('namespace');
  const space = client.namespace('space/');
  await step('put', () => space.put('a').value('one'));
  await step('get', () => space.getAll().strings());
  await step('get without', () => client.getAll().prefix('space/').strings());

  begin('cluster');
  await step('members', async () => (await client.cluster.memberList({})).members.map(m => [m.ID, m.peerURLs.length, m.clientURLs.length]));

  begin('maintenance');
  await step('status', async () => (await client.maintenance.status({})).version.replace('+understudy', ''));
  await step('alarms', () => client.maintenance.alarm({ action: 'Get' }));

  begin('users and roles');
  const role = client.role('reader');
  await step('role', () => role.create().then(() => 'ok'));
  await step('role again', () => role.create());
  await step('grant', () => role.grant({ permission: 'Read', range: client.range({ prefix: 'k/' }) }).then(() => 'ok'));
  await step('permissions', () => role.permissions());
  const user = client.user('user');
  await step('user', () => user.create('password').then(() => 'ok'));
  await step('add role', () => user.addRole(role).then(() => 'ok'));
  await step('roles', async () => (await user.roles()).map(each => each.name));
  await step('delete user', () => user.delete().then(() => 'ok'));
  await step('delete role', () => role.delete().then(() => 'ok'));
}

main().then(() => client.close(), e => { console.error(e); process.exit(1); });
