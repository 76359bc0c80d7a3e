// The checks of /readyz, by name.
import { empty, html, mark, nothing } from './html.js';

export function checks({ overview }) {
  const all = overview?.gateway?.checks ?? [];
  return all.length === 0 ? empty('Nothing to show yet') : html`
    <ul class="checks">
      ${all.map((check) => html`
        <li data-check=${check.name}><span class="what">${check.name}</span>${mark(check.ok ? 'ok' : 'bad', check.ok ? 'ok' : 'failed')}
          ${check.told ? html`<span class="told">${check.told}</span>` : nothing}</li>`)}
    </ul>`;
}
