// The other gateways, and what supervisors have done.
import { empty, html, mark, nothing } from './html.js';
import { address, duration, rate, time, whole } from './format.js';

export function gateways({ overview }) {
  const own = overview?.gateway;
  if (!own) {
    return empty('Nothing to show yet');
  }
  const rows = [{ ...own, url: null, reachable: true }, ...(overview.gateways ?? [])];
  return html`<div class="scroll" role="region" aria-label="Gateways, table" tabindex="0"><table>
    <caption class="hidden">Gateways</caption>
    <thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col" class="number">Revision</th>
      <th scope="col" class="number">Staleness</th><th scope="col" class="number">Reads per s</th>
      <th scope="col" class="number">Watchers</th></tr></thead>
    <tbody>${rows.map((each) => html`<tr data-gateway=${each.url ?? 'self'}>
      <th scope="row"><span class="name">${each.name ?? address(each.url)}</span>
        <span class="below">${each.url === null ? 'this gateway' : address(each.url)}${each.source?.kind
          ? `, from ${each.source.kind === 'kafka' ? 'Kafka' : 'etcd'}` : ''}</span></th>
      <td>${each.reachable === false ? mark('bad', 'unreachable') : each.ready ? mark('ok', 'ready') : mark('warn', 'not ready')}
        ${reason(each) ? html`<span class="reason">${reason(each)}</span>` : nothing}</td>
      ${figures(each.reachable === false ? {} : each)}
    </tr>`)}</tbody></table></div>`;
}

/** The error of the last request, or the failed readiness check. */
function reason({ message, problem }) {
  return message ?? problem;
}

/** None of an unreachable gateway: its last figures are outdated. */
function figures({ revision, staleness_ms: staleness, reads_per_s: reads, watchers }) {
  return html`<td class="number">${whole(revision)}</td>
    <td class="number">${duration(staleness)}</td>
    <td class="number">${rate(reads)}</td>
    <td class="number">${whole(watchers)}</td>`;
}

/** So many looks late one is doubted; but not by less than clocks of hosts may be apart. */
const LATE_LOOKS = 3;
const LEAST_OLD_LOOK_MS = 15_000;
const OUTCOMES = { done: 'ok', failed: 'bad', refused: 'warn', paused: 'warn' };

export function supervisors({ overview }) {
  const all = overview?.supervisors ?? [];
  if (overview === null) {
    return empty('Nothing to show yet');
  }
  if (all.length === 0) {
    return html`<p class="empty">No supervisors configured in <code>dashboard.supervisors</code></p>`;
  }
  return all.map((each) => html`<div class="supervisor" data-supervisor=${each.url}>
    <div class="head"><h3>${each.name ?? address(each.url)}</h3>
      ${standing(each, overview.at)}</div>
    ${reason(each) ? html`<p class="reason">${reason(each)}</p>` : nothing}
    ${each.paused ? html`<p class="reason">${each.paused}</p>` : nothing}
    ${each.reachable === false || !each.quorum ? nothing : html`<p class="below quorum">${seen(each, overview.at)}</p>`}
    ${each.reachable === false || !each.decision ? nothing : html`<p class="below decision">${done(each.decision)}</p>`}
    ${events(each)}
  </div>`);
}

/** A process that answers may have stopped to look, or not know whether it is to act. */
function standing({ reachable, paused, standing: role, looked_at: lookedAt, pace_ms: pace }, now) {
  if (reachable === false) {
    return mark('bad', 'unreachable');
  }
  const age = new Date(now) - new Date(lookedAt ?? NaN);
  if (!(age <= oldest(pace))) {
    return mark('warn', Number.isNaN(age) ? 'no check yet' : `last check ${duration(Math.floor(age / 1000) * 1000)} ago`);
  }
  if (paused) {
    return mark('warn', 'paused');
  }
  return mark(!role || role.startsWith('unknown') ? 'warn' : 'ok', role ?? 'unknown');
}

/** How old a look may be before it is doubted. */
function oldest(pace) {
  return Math.max(LEAST_OLD_LOOK_MS, LATE_LOOKS * (pace ?? 0));
}

/** What it tells of the cluster is of its last look that succeeded. */
function seen({ quorum, quorum_at: at, pace_ms: pace, decision }, now) {
  const failed = decision?.rule === 'unobservable';
  return failed || new Date(now) - new Date(at ?? NaN) > oldest(pace)
    ? `Last observed${at ? ` at ${time(at)}` : ''}: ${quorum}`
    : `Observed: ${quorum}`;
}

function done({ observed, action }) {
  return [observed, action].filter(Boolean).join(': ');
}

function events({ name, url, events: known }) {
  const all = known ?? [];
  return all.length === 0 ? empty('No events yet') : html`
    <ol class="events" tabindex="0" aria-label="Events of ${name ?? address(url)}, newest first">${all.map((event) => html`<li>
      <time class="when" datetime=${event.at}>${time(event.at)}</time>
      <div><span class="name">${event.step || event.rule}</span>
        ${event.outcome && event.outcome !== 'none' ? mark(OUTCOMES[event.outcome] ?? 'unknown', event.outcome) : nothing}
        <span class="below clamped" title=${event.observed ?? ''}>${done(event)}</span></div></li>`)}</ol>`;
}
