// Keys below a prefix as a tree, as the user may see them. Sends no request before the user lists keys.
import { copyButton, etcdctl } from './command.js';
import { empty, html, nothing, render } from './html.js';
import { plural, whole } from './format.js';
import { percent, shown, typed } from './keybytes.js';
import { KeyTree } from './keytree.js';
import { KeyValue, refused } from './keyvalue.js';
import { KeyWatch } from './keywatch.js';
import { Refusal, session } from './session.js';

export class KeyBrowser {
  #host;
  #due = false;
  #problem = null;
  #filter = '';
  #rows = [];
  /** The id of the focused row. */
  #focus = null;
  #tree;
  #value;
  #watch;

  constructor(host, oldest) {
    this.#host = host;
    this.#value = new KeyValue(() => this.#show(), oldest);
    this.#watch = new KeyWatch(() => this.#show());
    this.#tree = new KeyTree({
      changed: () => this.#show(),
      failed: (why) => {
        // A list that is still permitted outlives a lost connection.
        if (why instanceof Refusal) {
          this.#clear();
        }
        this.#problem = why;
        this.#show();
      },
      change: (change) => this.#value.take(change),
    });
    session.onChange(() => {
      // What one user has seen is not for the next.
      this.#clear();
      this.#watch.stop();
      this.#show();
    });
    this.#render();
  }

  #clear() {
    this.#tree.clear();
    this.#value.clear();
    this.#problem = null;
  }

  #show() {
    if (!this.#due) {
      this.#due = true;
      requestAnimationFrame(() => {
        this.#due = false;
        this.#render();
      });
    }
  }

  #prefix() {
    return typed(this.#host.querySelector('input[name=prefix]').value);
  }

  #list(event) {
    event.preventDefault();
    this.#value.clear();
    this.#problem = null;
    this.#focus = null;
    this.#tree.list(this.#prefix());
  }

  async #act(row) {
    this.#problem = null;
    if (row.more) {
      const at = this.#rows.indexOf(row);
      await this.#tree.more(row.more);
      this.#render();
      // The row 'More' has moved or is gone.
      this.#focusOn(at);
    } else if (row.entry.keys === null) {
      this.#focus = idOf(row);
      this.#value.choose(row.entry.bytes);
    } else {
      this.#focus = idOf(row);
      row.open ? this.#tree.close(row.entry) : this.#tree.open(row.entry);
    }
  }

  #focusOn(at) {
    const next = this.#rows[Math.max(0, Math.min(at, this.#rows.length - 1))];
    this.#focus = next === undefined ? null : idOf(next);
    this.#render();
    this.#host.querySelector('.key[tabindex="0"]')?.focus();
  }

  #key(event) {
    const at = Math.max(0, this.#rows.findIndex((row) => idOf(row) === this.#focus));
    const row = this.#rows[at];
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    const branch = row.entry?.keys > 0;
    if (step !== undefined) {
      this.#focusOn(at + step);
    } else if (event.key === 'Enter' || event.key === ' ' || (event.key === 'ArrowRight' && branch && !row.open)) {
      this.#act(row);
    } else if (event.key === 'ArrowRight' && branch) {
      this.#focusOn(at + 1);
    } else if (event.key === 'ArrowLeft' && row.open) {
      this.#act(row);
    } else if (event.key === 'ArrowLeft') {
      this.#focusOn(this.#rows.findLastIndex((each, i) => i < at && each.depth < row.depth));
    } else {
      return;
    }
    event.preventDefault();
  }

  #render() {
    this.#rows = this.#tree.rows(this.#filter.toLowerCase());
    render(html`
      <form class="query" @submit=${(event) => this.#list(event)}>
        <label for="prefix">Prefix</label>
        <input id="prefix" name="prefix" class="code" spellcheck="false" autocapitalize="none" autocomplete="off"
          placeholder="all keys" aria-describedby="prefix-help">
        <button type="submit" class="primary">List</button>
        <label class="live"><input type="checkbox" name="live" checked @change=${(event) => this.#tree.follow(event.target.checked)}> Live</label>
        <span id="prefix-help" class="below">Write a non-text byte as \\xNN, a backslash as \\\\</span>
      </form>
      ${this.#problem !== null ? refused(this.#problem) : nothing}
      <div class="browser">
        <div class="listing">${this.#tree.root === null ? empty('List keys to view them') : this.#listing()}</div>
        ${this.#value.render()}
      </div>
      ${this.#watch.render(() => this.#prefix())}`, this.#host);
  }

  #listing() {
    const { root, revision, live } = this.#tree;
    const focus = this.#rows.some((row) => idOf(row) === this.#focus) ? this.#focus : this.#rows[0] && idOf(this.#rows[0]);
    return html`
      <p class="below count">${root.listed < root.count
        ? `${whole(root.listed)} of ${plural(root.count, 'key')}` : plural(root.count, 'key')} as of revision ${whole(revision)}${
          live ? ', updated live' : ''}</p>
      ${root.count === 0 ? nothing : html`
      <input type="search" class="filter" placeholder="Filter the listed keys" aria-label="Filter the listed keys" .value=${this.#filter}
        @input=${(event) => { this.#filter = event.target.value; this.#show(); }}>
      ${this.#rows.length === 0 ? empty('No listed key contains this') : html`
      <ul class="keylist" role="tree" aria-label="Keys" @keydown=${(event) => this.#key(event)}>${this.#rows.map((row) => html`
        <li role="treeitem" class="key ${row.more ? 'more' : ''}" aria-level=${row.depth}
          tabindex=${idOf(row) === focus ? 0 : -1} aria-expanded=${row.entry?.keys > 0 ? String(row.open) : nothing}
          aria-selected=${this.#value.isChosen(row.entry?.id) ? 'true' : 'false'} data-key=${row.entry?.id ?? nothing}
          @click=${() => this.#act(row)}>${row.more ? html`<span class="name">More</span>` : html`
          <span class="code name">${name(row)}</span>${row.entry.keys === null ? nothing
            : html`<span class="below">${plural(row.entry.keys, 'key')}</span>`}`}</li>`)}</ul>`}`}
      ${copyButton(etcdctl('get', ['--prefix', '--keys-only'], root.prefix))}`;
  }
}

function idOf({ more, entry }) {
  return more ? `more ${percent(more.prefix)}` : entry.id;
}

/** Returns the key without the prefix of its level. */
function name({ entry, level, depth }) {
  const rest = depth === 1 ? entry.bytes : entry.bytes.subarray(level.prefix.length);
  return shown(rest.length === 0 ? entry.bytes : rest);
}
