// Watches with the etcd client of Node, at the endpoint given; prints what each watcher is told, one line each.
const { Etcd3 } = require('etcd3');

const client = new Etcd3({ hosts: process.argv[2] });
const past = process.argv[3];

const text = kv => kv && `${kv.key}=${kv.value} c${kv.create_revision} m${kv.mod_revision} v${kv.version}`;

async function show(name, builder) {
  const watcher = builder.watcher();
  const say = (what, more) => console.log(name + ': ' + what + (more === undefined ? '' : ' ' + more));
  watcher.on('put', (kv, previous) => say('put', text(kv) + (previous ? ' before ' + text(previous) : '')));
  watcher.on('delete', (kv, previous) => say('delete', text(kv) + (previous ? ' before ' + text(previous) : '')));
  watcher.on('error', error => say('error', error.constructor.name + ' ' + error.message));
  watcher.on('end', () => say('end'));
  watcher.on('disconnected', () => console.log('disconnected'));
  await new Promise(resolve => {
    watcher.once('connected', () => { say('connected'); resolve(); });
    watcher.once('error', resolve);
  });
  return watcher;
}

async function main() {
  await show('key', client.watch().key('k/1'));
  await show('prefix', client.watch().prefix('k/').withPreviousKV());
  await show('range', client.watch().inRange({ start: 'k/2', end: 'k/4' }));
  await show('all', client.watch().prefix(''));
  await show('past', client.watch().prefix('k/').startRevision(past).withPreviousKV());
  await show('puts', client.watch().prefix('k/').only('put'));
  await show('deletes', client.watch().prefix('k/').only('delete'));
  await show('compacted', client.watch().key('k/1').startRevision('1'));
  const canceled = await show('canceled', client.watch().key('k/1'));
  await canceled.cancel();
  console.log('all connected');
}

main();
