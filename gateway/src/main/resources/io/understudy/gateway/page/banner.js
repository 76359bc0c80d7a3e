// The states that matter, each with a face: what is wrong, since when, and what still works.
import { html, icon, nothing } from './html.js';
import { address, duration, plural, time, whole } from './format.js';
import { nameOf } from './members.js';
import { mirrorsOf, STATES } from './processes.js';
import { age, STALE_MS } from './state.js';

const HIGH_STALENESS_MS = 3_000;
const TROUBLE = { retrying: 'is retrying', conflict: 'is in conflict', differs: 'differs from its source' };

/** Those of now, the worst first: {level, icon, title, text, key, retry?}. Their words change with the state only. */
export function faces(state) {
  const { link, overview } = state;
  const found = [];
  const lost = link.phase === 'lost';
  const asOf = overview === null ? null : time(state.receivedAt);
  if (lost) {
    found.push({
      key: 'disconnected', level: overview === null ? 'warn' : 'bad', icon: 'lost', retry: true,
      title: `Disconnected since ${time(link.since)}`,
      text: asOf === null
        ? 'The gateway is unreachable. Reconnecting automatically.'
        : `The gateway is unreachable. Values are as of ${asOf}. Reconnecting automatically.`,
    });
  } else if (overview !== null && age() > STALE_MS && link.phase !== 'refused' && link.phase !== 'needed') {
    found.push({
      key: 'stale', level: 'warn', icon: 'clock',
      title: `No updates since ${asOf}`,
      text: 'The gateway is connected but sends no updates. Values may be outdated.',
    });
  }
  if (overview === null) {
    return found;
  }
  const { gateway, core } = overview;
  if (core?.quorum === 'lost') {
    found.unshift(quorumLost(core, gateway));
  } else if (core?.quorum === 'unreachable') {
    found.unshift(votersUnreachable(gateway));
  }
  found.push(...alarms(core));
  if (gateway?.ready === false) {
    found.push({
      key: 'not-ready', level: 'bad', icon: 'bad', title: 'This gateway is not ready', text: gateway.problem ?? '',
    });
  } else if (!lost && gateway?.staleness_ms > HIGH_STALENESS_MS && core?.quorum !== 'lost' && core?.quorum !== 'unreachable') {
    found.push({
      key: 'staleness', level: 'warn', icon: 'clock', title: 'The replica is stale',
      text: 'No recent confirmation by a voting member. Serializable reads may return old data; linearizable reads wait.',
    });
  }
  for (const member of core?.members ?? []) {
    if (member.health === 'unreachable' || member.health === 'leaderless') {
      found.push({
        key: `member ${member.id}`, level: 'warn', icon: 'warn',
        title: `${nameOf(member)} is ${member.health}`, text: member.role === 'voter' ? remaining(core) : '',
      });
    }
  }
  for (const [kind, peers] of [['Gateway', overview.gateways], ['Mirror process', overview.mirrors],
    ['Supervisor', overview.supervisors]]) {
    for (const peer of peers ?? []) {
      if (peer.reachable === false) {
        found.push({
          key: peer.url, level: 'warn', icon: 'cut',
          title: `${kind} ${address(peer.url)} is unreachable`, text: peer.message ?? '',
        });
      } else if (kind === 'Gateway' && peer.ready === false) {
        found.push({
          key: peer.url, level: 'warn', icon: 'warn',
          title: `Gateway ${peer.name ?? address(peer.url)} is not ready`, text: peer.problem ?? '',
        });
      }
    }
  }
  for (const { label, ...mirror } of mirrorsOf(overview).flatMap((each) => [each, ...each.others.map((other) => ({
    ...other, label: `${each.label} at ${address(other.url)}` }))]).filter((each) => each.gone === null)) {
    const level = STATES[mirror.state] === 'bad' ? 'bad' : 'warn';
    if (level === 'bad' || mirror.state === 'retrying' || mirror.idle) {
      found.push({
        key: `mirror ${label}`, level, icon: level,
        title: `Mirror ${label} ${mirror.idle ? 'has no active process' : TROUBLE[mirror.state] ?? `has ${mirror.state}`}`,
        text: mirror.reason ?? '',
      });
    }
  }
  return found;
}

function remaining({ quorum, voters, healthy_voters: healthy, tolerance }) {
  return quorum !== 'held' ? '' : `${healthy} of ${voters} voting members are healthy. The quorum is held and tolerates ${
    tolerance === 0 ? 'no further failure' : plural(tolerance, 'further failure')}.`;
}

/** One for each kind, as what is refused and why is the same for all members that have it. */
function alarms(core) {
  const all = core?.alarms ?? [];
  return [...new Set(all.map((each) => each.kind))].map((kind) => {
    const of = all.filter((each) => each.kind === kind).map((each) => each.member).join(', ');
    return {
      key: `alarm ${kind}`, level: 'bad', icon: 'bad',
      title: `${kind === 'NOSPACE' ? 'Writes are rejected' : 'Core cluster'}: alarm ${kind} on ${of}`,
      text: kind === 'NOSPACE' ? 'The core cluster exceeds its space quota. Deletes are accepted.' : '',
    };
  });
}

function quorumLost(core, gateway) {
  const needed = Math.floor(core.voters / 2) + 1;
  return {
    key: 'quorum', level: 'bad', icon: 'bad', loud: true,
    title: 'Quorum lost',
    text: `${core.healthy_voters} of ${core.voters} voting members are healthy; ${needed} are required.`,
    works: works(gateway),
    fails: 'writes, linearizable reads, leases and membership changes, until the quorum is restored',
  };
}

function votersUnreachable(gateway) {
  return {
    key: 'quorum', level: 'bad', icon: 'cut', loud: true,
    title: 'No voting member reachable',
    text: 'Quorum state unknown: the voting members, or the network path from this gateway to them, may be down.',
    works: works(gateway),
    fails: 'writes, linearizable reads and leases through this gateway, until a voting member is reachable',
  };
}

function works(gateway) {
  return `serializable reads and watches on this gateway, as of revision ${whole(gateway?.revision)}`;
}

export function alert(state) {
  const face = faces(state).find((each) => each.loud);
  return face === undefined ? nothing : html`
    <div class="face bad loud" data-face="quorum">
      ${icon(face.icon)}
      <div><strong>${face.title}</strong> <span>${face.text}</span>
        <dl><div><dt>Available</dt><dd>${face.works}</dd></div><div><dt>Unavailable</dt><dd>${face.fails}</dd></div></dl>
      </div>
    </div>`;
}

export function banners(state, retry) {
  const quiet = faces(state).filter((each) => !each.loud);
  return quiet.map((face) => html`
    <div class="face ${face.level}" data-face=${face.key}>
      ${icon(face.icon)}
      <div><strong>${face.title}</strong>${/^[A-Z0-9]/.test(face.text) || face.text === '' ? '. ' : ': '}<span>${face.text}</span></div>
      ${face.retry ? html`<button type="button" @click=${retry}>Retry now</button>` : nothing}
    </div>`);
}

/** What the header says of the connection, for all states. */
export function pulse(state) {
  const { phase, since } = state.link;
  const old = age();
  if (phase === 'live' && old !== null && old <= STALE_MS) {
    return html`<span class="pulse ok" data-phase="live">${icon('live')}<span>Live</span></span>`;
  }
  const [word, shape, level] = {
    connecting: ['Connecting', 'clock', 'unknown'],
    live: [old === null ? 'Waiting' : `No updates for ${duration(Math.round(old / 1000) * 1000)}`, 'clock', 'warn'],
    lost: [`Disconnected ${since ? time(since) : ''}`, 'lost', 'bad'],
    needed: ['Sign in', 'key', 'warn'],
    refused: ['Rejected', 'key', 'warn'],
  }[phase];
  return html`<span class="pulse ${level}" data-phase=${phase}>${icon(shape)}<span>${word}</span></span>`;
}
