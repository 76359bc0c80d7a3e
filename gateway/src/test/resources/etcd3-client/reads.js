// Reads with the etcd client of Node, from the endpoint given; prints what it was answered, one line each.
const { Etcd3 } = require('etcd3');

const client = new Etcd3({ hosts: process.argv[2] });
const [current, past] = process.argv.slice(3);

const shown = (name, value) => value instanceof Buffer ? value.toString('hex') : value;

async function show(title, read) {
  let answer;
  try {
    answer = await read();
  } catch (error) {
    answer = { error: error.constructor.name, message: error.message };
  }
  console.log(title + ': ' + JSON.stringify(answer, shown));
}

async function main() {
  await show('one', () => client.get('k/2').exec());
  await show('one as string', () => client.get('k/2').string());
  await show('one missing', () => client.get('nothing').string());
  await show('one exists', () => client.get('k/2').exists());
  await show('serializable', () => client.get('k/2').serializable(true).exec());
  await show('all', () => client.getAll().strings());
  await show('prefix', () => client.getAll().prefix('k/').strings());
  await show('range', () => client.getAll().inRange({ start: 'k/1', end: 'k/3' }).keys());
  await show('sorted', () => client.getAll().prefix('k/').sort('Mod', 'Descend').keys());
  await show('sorted by value', () => client.getAll().prefix('k/').sort('Value', 'Ascend').limit(2).exec());
  await show('limited', () => client.getAll().prefix('k/').limit(2).serializable(true).exec());
  await show('count', () => client.getAll().prefix('k/').count());
  await show('keys', () => client.getAll().prefix('k/').keyBuffers());
  await show('revision', () => client.getAll().prefix('k/').revision(past).exec());
  await show('future', () => client.get('k/2').revision(Number(current) + 1000).exec());
  await show('compacted', () => client.get('k/2').revision(1).exec());
  await show('filtered', () => client.getAll().minModRevision(past).exec());
  await show('then', () => client.if('k/2', 'Value', '==', 'value 2').and('nothing', 'Create', '==', 0)
    .then(client.get('k/2'), client.getAll().prefix('k/').limit(1)).else(client.get('k/3')).commit());
  await show('else', () => client.if('k/2', 'Version', '>', 7).then(client.get('k/2')).else(client.get('k/3')).commit());
  await show('serializable transaction', () => client.if('k/2', 'Mod', '!=', 0)
    .then(client.get('k/2').serializable(true)).commit());
}

main().finally(() => client.close());
