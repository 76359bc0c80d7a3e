// The checks of /readyz, by name.
import { empty, html, mark, nothing } from './html.js';

export function checks({ overview }) {
  const all = overview?.gateway?.checks ?? [];
  return all.length === 0 ? empty('Nothing to show yet') : html`
    <ul class="checks">
      ${all.map(row)}
    </ul>`;
}

function row({ name, ok, message }) {
  return html`
        <li data-check=${name}><span class="what">${name}</span>${mark(ok ? 'ok' : 'bad', ok ? 'ok' : 'failed')}
          ${message ? html`<span class="reason">${message}</span>` : nothing}</li>`;
}
