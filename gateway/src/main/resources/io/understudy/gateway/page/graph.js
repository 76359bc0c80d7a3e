// The picture as a tree of what feeds what: nodes with their state, and of each the feed that reaches it.
import { address, duration, rate, whole } from './format.js';
import { HEALTH, seated, versionsOf } from './members.js';
import { hasReason, levelOf } from './mirrors.js';
import { place } from './places.js';
import { mirrorsOf, otherwise } from './processes.js';

/** The root node, with children; null while nothing is known. */
export function graph({ overview, samples }) {
  if (!overview?.gateway) {
    return null;
  }
  const nodes = new Map();
  const root = overview.core
    ? { id: 'core', kind: 'core', title: 'Core cluster', subtitle: versionsOf(overview.core) && `etcd ${versionsOf(overview.core)}`, members: seated(overview.core.members ?? []),
      quorum: overview.core.quorum, healthy: `${overview.core.healthy_voters} of ${overview.core.voters} voters healthy`, alarms: (overview.core.alarms ?? []).map((each) => each.kind), state: quorumState(overview.core),
      children: [] }
    : { id: 'source', kind: overview.gateway.source?.kind ?? 'etcd', title: overview.gateway.source?.kind === 'kafka' ? 'Kafka' : 'Source',
      subtitle: overview.gateway.source?.name ? `topic ${overview.gateway.source.name}` : '', state: 'unknown', children: [] };
  nodes.set(root.id, root);
  const coreUrls = new Set(root.members?.flatMap((member) => member.endpoints ?? []).map(address));

  const hang = (parent, node, feed) => {
    node.children ??= [];
    node.feed = feed;
    parent.children.push(node);
    nodes.set(node.id, node);
    return node;
  };
  const of = (where) => nodes.get(where.id)
    ?? (where.urls.some((url) => coreUrls.has(address(url))) ? root : undefined);

  const self = overview.gateway;
  hang(root, gatewayNode({ ...self, reachable: true }, 'gateway self', 'this gateway'),
    { perSecond: samples.latest('apply'), unit: 'commits', lagMs: self.staleness_ms, state: self.ready === false ? 'warn' : 'ok' });

  // Of an unreachable process, the last status is shown.
  const mirrors = mirrorsOf(overview);
  // A mirror's source may be another one's target, whatever their order.
  const waiting = [...mirrors];
  for (let round = 0; waiting.length > 0 && round <= mirrors.length; round++) {
    for (const mirror of waiting.splice(0)) {
      const from = of(place(mirror.source)) ?? (round === mirrors.length || !targeted(mirrors, mirror) ? root : undefined);
      if (from === undefined) {
        waiting.push(mirror);
      } else {
        hangMirror(from, mirror, hang, nodes);
      }
    }
  }
  for (const peer of overview.gateways ?? []) {
    hang(sourceOf(peer, nodes, root), gatewayNode(peer, `gateway ${peer.url}`, address(peer.url)), {
      perSecond: null, lagMs: peer.reachable ? peer.staleness_ms : null,
      state: peer.reachable === false ? 'bad' : peer.ready === false ? 'warn' : 'ok',
    });
  }
  return root;
}

function targeted(mirrors, mirror) {
  const from = place(mirror.source).id;
  return mirrors.some((each) => each !== mirror && place(each.target).id === from);
}

function quorumState(core) {
  if (core.quorum !== 'held') {
    return core.quorum === 'unknown' ? 'unknown' : 'bad';
  }
  if (core.alarms?.length > 0) {
    return 'bad';
  }
  return (core.members ?? []).every((member) => HEALTH[member.health] === 'ok') ? 'ok' : 'warn';
}

function gatewayNode(gateway, id, subtitle) {
  const gone = gateway.reachable === false;
  return {
    id, kind: 'gateway', title: gateway.name ?? 'Gateway', subtitle,
    state: gone ? 'bad' : gateway.ready === false ? 'warn' : gateway.ready ? 'ok' : 'unknown',
    word: gone ? 'unreachable' : gateway.ready === false ? 'not ready' : 'ready',
    facts: gone ? [] : [`${rate(gateway.reads_per_s)} reads per s`, `${whole(gateway.watchers)} watchers`],
    message: gone ? gateway.message : gateway.problem,
  };
}

function hangMirror(from, mirror, hang, nodes) {
  const [level, word] = levelOf(mirror);
  const flows = !mirror.gone && ['synced', 'differs', 'torn', 'syncing'].includes(mirror.state);
  // Only a feed that is down is drawn as cut.
  const line = flows && level === 'bad' ? 'warn' : level;
  const node = hang(from, {
    id: `mirror ${mirror.label}`, kind: 'mirror', title: mirror.label, subtitle: 'mirror', state: level,
    word, facts: otherwise(mirror), message: mirror.gone ?? (hasReason(mirror, level) ? mirror.reason : null),
  }, { perSecond: flows ? mirror.changesPerSecond : null, unit: 'changes', lagMs: null, state: line });
  const where = place(mirror.target);
  const lag = { perSecond: flows ? mirror.changesPerSecond : null, unit: 'changes', lagMs: mirror.gone ? null : mirror.lagMillis,
    state: line };
  if (nodes.has(where.id)) {
    // A second mirror into the same: said at the mirror, as a tree has one way to each.
    node.facts.push(`also writes to ${where.label}, ${duration(lag.lagMs)} behind`);
    return;
  }
  hang(node, {
    id: where.id, kind: where.kind, topic: where.topic, urls: where.urls,
    title: where.kind === 'kafka' ? 'Kafka' : 'etcd cluster', subtitle: where.kind === 'kafka' ? `topic ${where.topic}` : where.urls.map(address).join(', '),
    state: null, facts: mirror.checkpoint ? [`at revision ${whole(mirror.checkpoint.revision)}`] : [],
  }, lag);
}

/** A gateway tells the kind of its source only: there is seldom more than one of those that it can be. */
function sourceOf(gateway, nodes, root) {
  const topic = [...nodes.values()].find((node) => node.kind === 'kafka');
  return gateway.source?.kind === 'kafka' && topic ? topic : root;
}
