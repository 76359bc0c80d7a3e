// One key: its value in three forms, and what it was before.
import { copyButton, etcdctl } from './command.js';
import { empty, html, icon, mark, nothing } from './html.js';
import { plural, size, whole } from './format.js';
import { bytesOf, hex, percent, prettyJson, shown, textOf } from './keybytes.js';
import { ask, Refusal } from './session.js';
import { openStream, threeHeartbeats } from './stream.js';

const FORMS = [['text', 'Text'], ['json', 'JSON'], ['hex', 'Hex']];
const MOST_SHOWN = 64 << 10;
const MOST_HISTORY = 200;

/** What is chosen; null for nothing. */
export class KeyValue {
  #show;
  #oldest;
  #chosen = null;

  /** oldest() is the first revision that can still be had, null if nobody knows. */
  constructor(show, oldest) {
    this.#show = show;
    this.#oldest = oldest;
  }

  isChosen(id) {
    return this.#chosen?.id === id;
  }

  clear() {
    this.#chosen?.stream?.close();
    this.#chosen = null;
  }

  async choose(bytes) {
    this.clear();
    const id = percent(bytes);
    const chosen = { id, bytes, entry: null, problem: null, form: null, all: false, history: null, stream: null, lost: false, gap: null };
    this.#chosen = chosen;
    this.#show();
    try {
      fill(chosen, await this.#read(bytes, id));
    } catch (why) {
      chosen.problem = why;
    }
    this.#show();
  }

  /** Applies a change of a key; ignored unless it is the chosen one. */
  take(change) {
    const chosen = this.#chosen;
    if (chosen === null || percent(bytesOf(change.key, change.key_encoding)) !== chosen.id) {
      return;
    }
    if (change.type === 'put') {
      chosen.problem = null;
      fill(chosen, change);
    } else {
      chosen.entry = null;
      chosen.problem = new Refusal(404, `deleted at revision ${whole(change.mod_revision)}`);
    }
    this.#show();
  }

  #read(bytes, id) {
    // A browser takes these for steps in the path, encoded or not.
    return id === '.' || id === '..'
      ? ask(`/v1/kv?prefix=${id}&limit=1&consistency=serializable`).then(({ kvs: [first] }) => {
        if (first === undefined || percent(bytesOf(first.key, first.key_encoding)) !== id) {
          throw new Refusal(404, 'no such key');
        }
        return first;
      })
      : ask(`/v1/kv/${id}?consistency=serializable`);
  }

  #openHistory(from) {
    const chosen = this.#chosen;
    chosen.history ??= [];
    const path = `/v1/watch?key=${chosen.id}&revision=${from}`;
    chosen.stream = openStream(path, threeHeartbeats, {
      opened: () => {
        chosen.lost = false;
        this.#show();
      },
      lost: () => {
        chosen.lost = true;
        this.#show();
      },
      refused: (why) => {
        chosen.problem = why;
        this.#show();
      },
      event: ({ name, data }) => {
        const content = JSON.parse(data);
        if (name === 'gap') {
          chosen.stream.close();
          chosen.gap = content.compact_revision;
          this.#openHistory(content.compact_revision);
        } else {
          content.changes.forEach((change) => chosen.history.unshift(change));
          chosen.history.length = Math.min(chosen.history.length, MOST_HISTORY);
          this.#show();
        }
      },
    });
    this.#show();
  }

  render() {
    const chosen = this.#chosen;
    if (chosen === null) {
      return html`<div class="detail">${empty('Select a key to view its value')}</div>`;
    }
    return html`<section class="detail" aria-label="Key">
      <h3 class="code key-name" id="key-name" tabindex="-1">${shown(chosen.bytes)}</h3>
      ${chosen.problem !== null ? refused(chosen.problem) : chosen.entry === null ? empty('Loading') : this.#value(chosen)}
      ${chosen.problem !== null ? nothing : this.#history(chosen)}</section>`;
  }

  #value(chosen) {
    const { entry, value, form } = chosen;
    const content = form === 'hex' ? null : value[form];
    const all = chosen.all || value.bytes.length <= MOST_SHOWN;
    const text = form === 'hex' ? hex(all ? value.bytes : value.bytes.subarray(0, MOST_SHOWN >> 2)) : all ? content : content.slice(0, MOST_SHOWN);
    return html`
      <p class="below">${size(value.bytes.length)}, version ${whole(entry.version)}, created at revision
        ${whole(entry.create_revision)}, modified at ${whole(entry.mod_revision)}${entry.lease ? `, lease ${entry.lease}` : ''}</p>
      ${copyButton(etcdctl('get', [], chosen.bytes))}
      <fieldset class="forms"><legend class="hidden">Show the value as</legend>${FORMS.map(([id, name]) => html`
        <label><input type="radio" name="form" value=${id} .checked=${form === id} ?disabled=${id !== 'hex' && value[id] === null}
          @change=${() => { chosen.form = id; this.#show(); }}><span>${name}</span></label>`)}</fieldset>
      <pre class="code value" tabindex="0" aria-label="Value" data-form=${form}>${text}</pre>
      ${all ? nothing : html`<button type="button" @click=${() => { chosen.all = true; this.#show(); }}>Show all</button>`}`;
  }

  #history(chosen) {
    if (chosen.history === null) {
      return html`<button type="button" class="open-history" @click=${() => this.#openHistory(this.#oldest() ?? 1)}>History</button>`;
    }
    return html`<h4>History <span class="below">${plural(chosen.history.length, 'change')}${chosen.gap === null ? ''
      : `, from revision ${whole(chosen.gap)}`}; ${chosen.lost
      ? 'interrupted, resumes when the gateway is reachable' : 'updated live'}</span></h4>
      <ol class="history" tabindex="0" aria-label="History, newest first">${chosen.history.map((change) => html`<li data-revision=${change.mod_revision}>
        <span class="when">${whole(change.mod_revision)}</span> ${change.type === 'put'
          ? html`<span class="change">put</span><span class="code snippet">${snippet(change)}</span>`
          : html`<span class="change delete">delete</span>`}</li>`)}</ol>`;
  }
}

/** Sets the entry; keeps the selected form if the value has it. */
function fill(chosen, entry) {
  if (entry.mod_revision <= chosen.entry?.mod_revision) {
    return;
  }
  const bytes = bytesOf(entry.value, entry.value_encoding);
  const text = textOf(bytes);
  const json = text === null ? null : prettyJson(text);
  chosen.entry = entry;
  chosen.value = { bytes, text, json };
  if (chosen.form === null || (chosen.form !== 'hex' && chosen.value[chosen.form] === null)) {
    chosen.form = json !== null && /^\s*[[{]/.test(text) ? 'json' : text !== null ? 'text' : 'hex';
  }
}

/** The begin of a value, in one line. */
export function snippet(change) {
  const bytes = bytesOf(change.value, change.value_encoding);
  const head = shown(bytes.length > 400 && change.value_encoding === 'base64' ? bytes.subarray(0, 100) : bytes);
  return head.length > 200 ? `${head.slice(0, 200)}…` : head;
}

/** Why there is nothing to see. */
export function refused(why) {
  const word = why instanceof Refusal
    ? { 401: 'Sign in to view this', 403: 'You are not permitted to view this', 404: 'Key not found' }[why.status]
      ?? 'Request rejected'
    : 'The gateway is unreachable';
  return html`<div class="refused" role="alert" data-status=${why.status ?? ''}>${mark(why.status === 404 ? 'unknown' : 'bad', word)}
    <p class="reason">${why.message}</p>${why.status === 401 ? html`<a href="#login" @click=${signIn}>${icon('key')} Sign in</a>` : nothing}</div>`;
}

function signIn() {
  document.dispatchEvent(new CustomEvent('understudy:sign-in'));
}
