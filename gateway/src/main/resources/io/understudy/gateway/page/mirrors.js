// Each mirror: how far it is, and whether its copy was found to be one.
import { empty, html, icon, mark, nothing } from './html.js';
import { address, duration, plural, rate, time, whole } from './format.js';
import { place } from './places.js';
import { mirrorsOf, otherwise, STATES } from './processes.js';

/** How it is, of all its processes; with the word for it. */
export function levelOf(mirror) {
  if (mirror.gone) {
    return ['bad', 'unreachable'];
  }
  return mirror.idle ? ['warn', 'no active process'] : [STATES[mirror.state] ?? 'unknown', mirror.state];
}

/** Whether there is something to be said of it. A standby is well; but its home may have moved, which its reason says. */
export function hasReason(mirror, level) {
  return level !== 'ok' || mirror.state === 'standby';
}

export function mirrors({ overview }) {
  const processes = overview?.mirrors ?? [];
  if (overview === null) {
    return empty('Nothing to show yet');
  }
  if (processes.length === 0) {
    return html`<p class="empty">No mirrors configured in <code>dashboard.mirrors</code></p>`;
  }
  return html`<ul class="mirrors">${mirrorsOf(overview).filter((each) => each.gone === null).map(card)}${processes
    .filter((process) => !process.reachable).map(gone)}</ul>`;
}

function gone({ url, message, mirrors: known }) {
  const seen = known ?? [];
  return html`<li class="mirror gone" data-process=${url}>
    <div class="head"><h3>${address(url)}</h3>${mark('bad', 'unreachable')}</div>
    <p class="reason">${message ?? ''}</p>
    ${seen.length === 0 ? nothing : html`<p class="below">Mirrors: ${seen.map((each) => each.name).join(', ')}</p>`}
  </li>`;
}

function card(mirror) {
  const [level, word] = levelOf(mirror);
  return html`<li class="mirror" data-mirror=${mirror.label}>
    <div class="head"><h3>${mirror.label}</h3>${mark(level, word)}</div>
    <p class="path"><span>${place(mirror.source).label}</span><span class="arrow" aria-label="to">→</span><span>${place(mirror.target).label}</span></p>
    <dl class="facts">
      <div><dt>Lag</dt><dd>${duration(mirror.lagMillis)}, ${plural(mirror.lagRevisions, 'revision')}</dd></div>
      <div><dt>Rate</dt><dd>${rate(mirror.changesPerSecond)} changes per s</dd></div>
      <div><dt>Checkpoint</dt><dd>${checkpoint(mirror)}</dd></div>
      <div><dt>Verified</dt><dd>${verification(mirror.verification)}</dd></div>
      ${mirror.others.length === 0 ? nothing : html`<div><dt>Other processes</dt><dd>${otherwise(mirror).join(', ')}</dd></div>`}
    </dl>
    ${mirror.reason && hasReason(mirror, level) ? html`<p class="reason">${mirror.reason}</p>` : nothing}
    ${(mirror.warnings ?? []).map((warning) => html`<p class="reason warning">${icon('warn')} ${warning}</p>`)}
  </li>`;
}

/** Only who writes to the target knows what stands there. */
function checkpoint({ checkpoint: stored, state }) {
  if (stored) {
    return `revision ${whole(stored.revision)}, epoch ${whole(stored.epoch)}, ${stored.state}`;
  }
  return state === 'standby' ? 'not read while standby' : 'none yet';
}

function verification(verified) {
  if (!verified) {
    return 'disabled';
  }
  if (verified.problem) {
    return mark('warn', verified.problem);
  }
  if (!verified.passes) {
    return mark('unknown', 'first pass in progress');
  }
  return html`${verified.differing > 0
    ? mark('bad', `${plural(verified.differing, 'key')} of ${whole(verified.keys)} differ`)
    : mark('ok', `${plural(verified.keys, 'key')} equal`)} <span class="when">at ${time(verified.lastPass)}</span>`;
}
