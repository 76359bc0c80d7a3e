// The strip of figures: what one looks at first.
import { html, icon, nothing } from './html.js';
import { bytes, millis, plural, rate, whole } from './format.js';
import { versionsOf } from './members.js';

const QUORUM = {
  held: ['ok', 'Quorum held'],
  lost: ['bad', 'Quorum lost'],
  unreachable: ['bad', 'No voter reachable'],
  unknown: ['unknown', 'Quorum unknown'],
};

function figure(id, name, amount, unit, below) {
  return html`
    <div class="figure" data-figure=${id}>
      <dt>${name}</dt>
      <dd><span class="amount">${amount}</span>${unit ? html` <span class="unit">${unit}</span>` : nothing}
        <span class="below">${below ?? nothing}</span></dd>
    </div>`;
}

export function figures({ overview }) {
  const gateway = overview?.gateway ?? {};
  const core = overview?.core ?? null;
  const [staleness, stalenessUnit] = millis(gateway.staleness_ms);
  const [held, heldUnit] = bytes(gateway.bytes);
  const [level, word] = core?.quorum === 'held' && core.tolerance === 0 && core.voters > 1
    ? ['warn', 'Quorum held, tolerates no failure'] : QUORUM[core?.quorum] ?? QUORUM.unknown;
  return html`<dl class="strip">
    ${overview !== null && core === null
      ? figure('source', 'Source', overview.gateway?.source?.kind === 'kafka' ? 'Kafka' : '–', '',
        gateway.source?.name ? `topic ${gateway.source.name}` : '')
      : html`
    <div class="figure" data-figure="quorum">
      <dt>Voters</dt>
      <dd><span class="amount">${whole(core?.healthy_voters)}<span class="of"> of ${whole(core?.voters)}</span></span>
        <span class="below mark ${level}">${icon(level)}<span>${word}</span></span></dd>
    </div>`}
    ${figure('revision', 'Revision', whole(gateway.revision), '',
      gateway.lag_revisions > 0 ? `${whole(gateway.lag_revisions)} behind` : `history from ${whole(gateway.oldest_revision)}`)}
    ${figure('staleness', 'Staleness', staleness, stalenessUnit, 'since last confirmation')}
    ${figure('reads', 'Reads', rate(gateway.reads_per_s), 'per s', plural(gateway.connections, 'connection'))}
    ${figure('watchers', 'Watchers', whole(gateway.watchers), '', `on ${plural(gateway.watch_streams, 'stream')}`)}
    ${figure('keys', 'Keys', whole(gateway.keys), '', `${held} ${heldUnit}`)}
  </dl>`;
}

export function identity({ overview }) {
  const name = overview?.gateway?.name;
  return name ? html`<span class="hidden">Gateway</span><span class="name">${name}</span>` : nothing;
}

export function footer({ overview }) {
  const gateway = overview?.gateway;
  const versions = versionsOf(overview?.core);
  return html`
    <span>${gateway?.version ? html`Understudy gateway <span class="code">${gateway.version}</span>` : 'Understudy gateway'}</span>
    ${versions ? html`<span>source etcd <span class="code">${versions}</span></span>` : nothing}
    ${gateway?.cluster_id ? html`<span>cluster <span class="code">${gateway.cluster_id}</span></span>` : nothing}
    <a href="/openapi.json">API</a>`;
}
