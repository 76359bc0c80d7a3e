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
        <span class="below">${each.url === null ? 'this one' : address(each.url)}${each.source?.kind
          ? `, from ${each.source.kind === 'kafka' ? 'Kafka' : 'etcd'}` : ''}</span></th>
      <td>${each.reachable === false ? mark('bad', 'does not answer') : each.ready ? mark('ok', 'ready') : mark('warn', 'not ready')}
        ${each.told ?? each.problem ? html`<span class="told">${each.told ?? each.problem}</span>` : nothing}</td>
      <td class="number">${whole(each.revision)}</td>
      <td class="number">${duration(each.staleness_ms)}</td>
      <td class="number">${rate(each.reads_per_s)}</td>
      <td class="number">${whole(each.watchers)}</td>
    </tr>`)}</tbody></table></div>`;
}

const OUTCOMES = { done: 'ok', failed: 'bad', refused: 'warn', paused: 'warn' };

export function supervisors({ overview }) {
  const all = overview?.supervisors ?? [];
  if (overview === null) {
    return empty('Nothing to show yet');
  }
  if (all.length === 0) {
    return html`<p class="empty">No supervisors are named in <code>dashboard.supervisors</code></p>`;
  }
  return all.map((each) => html`<div class="supervisor" data-supervisor=${each.url}>
    <div class="head"><h3>${each.name ?? address(each.url)}</h3>
      ${each.reachable === false ? mark('bad', 'does not answer')
        : each.paused ? mark('warn', 'paused') : mark('ok', each.standing ?? 'running')}</div>
    ${each.told ? html`<p class="told">${each.told}</p>` : nothing}
    ${each.paused ? html`<p class="told">${each.paused}</p>` : nothing}
    ${events(each.events ?? [])}
  </div>`);
}

function events(all) {
  return all.length === 0 ? empty('No events yet') : html`
    <ol class="events">${all.map((event) => html`<li>
      <time class="when" datetime=${event.at}>${time(event.at)}</time>
      <div><span class="name">${event.step || event.rule}</span>
        ${event.outcome && event.outcome !== 'none' ? mark(OUTCOMES[event.outcome] ?? 'unknown', event.outcome) : nothing}
        <span class="below clamped" title=${event.observed ?? ''}>${[event.observed, event.told].filter(Boolean).join(': ')}</span></div></li>`)}</ol>`;
}
