// Who votes, who learns, who serves.
import { empty, html, icon, mark } from './html.js';
import { address, whole } from './format.js';

export const HEALTH = { healthy: 'ok', leaderless: 'warn', unreachable: 'bad', unknown: 'unknown' };

export function nameOf(member) {
  return member.name || member.id;
}

export function role(member) {
  return member.leads ? 'leader' : member.role;
}

/** Voters first, then by name: in the same place whatever the source's order. */
export function seated(all) {
  const rank = { voter: 0, learner: 1, gateway: 2 };
  return [...all].sort((one, other) => (rank[one.role] ?? 3) - (rank[other.role] ?? 3)
    || nameOf(one).localeCompare(nameOf(other), 'en', { numeric: true }));
}

/** Returns the versions of the members, several during a rolling upgrade; empty while unknown. */
export function versionsOf(core) {
  return [...new Set((core?.members ?? []).map(({ version }) => version).filter(Boolean))].sort().join(', ');
}

function named({ name }) {
  return name ? `, topic ${name}` : '';
}

export function members({ overview }) {
  if (overview?.gateway?.source?.kind === 'kafka') {
    return empty(`Source is Kafka${named(overview.gateway.source)}: no member list available`);
  }
  const all = seated(overview?.core?.members ?? []);
  return all.length === 0 ? empty('Nothing to show yet') : html`
    <div class="scroll" role="region" aria-label="Members, table" tabindex="0">
    <table class="members">
      <caption class="hidden">Members of the core cluster, as observed by this gateway</caption>
      <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Health</th>
        <th scope="col" class="number">Revision</th><th scope="col" class="number">Lag, revisions</th>
        <th scope="col">Version</th><th scope="col">Client address</th></tr></thead>
      <tbody>${all.map(row)}</tbody>
    </table></div>`;
}

function row(member) {
  return html`<tr data-member=${member.id}>
    <th scope="row"><span class="name">${nameOf(member)}</span><span class="code id">${member.id}</span></th>
    <td><span class="role ${role(member)}">${icon(role(member))}<span>${member.leads ? 'voter, leader' : member.role}</span></span></td>
    <td>${mark(HEALTH[member.health] ?? 'unknown', member.health)}</td>
    <td class="number">${whole(member.revision)}</td>
    <td class="number">${whole(member.lag_revisions)}</td>
    <td class="code">${member.version ?? '–'}</td>
    <td class="code">${(member.endpoints ?? []).map(address).join(', ') || '–'}</td>
  </tr>`;
}
