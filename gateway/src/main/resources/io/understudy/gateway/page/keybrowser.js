// Keys below a prefix, page by page, as the user may see them. Nothing is asked for before the user does.
import { empty, html, nothing, render } from './html.js';
import { plural, size, whole } from './format.js';
import { bytesOf, percent, shown, typed } from './keybytes.js';
import { KeyValue, refused } from './keyvalue.js';
import { KeyWatch } from './keywatch.js';
import { ask, session } from './session.js';

const PAGE = 50;

export class KeyBrowser {
  #host;
  #due = false;
  #keys = null;
  #total = 0;
  #revision = 0;
  #cursor = null;
  #problem = null;
  #asked = 0;
  #focus = 0;
  #value;
  #watch;

  constructor(host, oldest) {
    this.#host = host;
    this.#value = new KeyValue(() => this.#show(), oldest);
    this.#watch = new KeyWatch(() => this.#show());
    session.onChange(() => {
      // What one user has seen is not for the next.
      this.#asked++;
      this.#keys = null;
      this.#problem = null;
      this.#value.clear();
      this.#watch.stop();
      this.#show();
    });
    this.#render();
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

  async #list(cursor) {
    const mine = ++this.#asked;
    const path = cursor === null
      ? `/v1/kv?prefix=${percent(this.#prefix())}&limit=${PAGE}&consistency=serializable`
      : `/v1/kv?limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`;
    try {
      const page = await ask(path);
      if (mine !== this.#asked) {
        return;
      }
      const keys = page.kvs.map((entry) => {
        const bytes = bytesOf(entry.key, entry.key_encoding);
        return { bytes, id: percent(bytes), revision: entry.mod_revision, size: bytesOf(entry.value, entry.value_encoding).length };
      });
      this.#focus = cursor === null ? 0 : this.#keys.length;
      this.#keys = cursor === null ? keys : [...this.#keys, ...keys];
      this.#total = page.count;
      this.#revision = page.revision;
      this.#cursor = page.cursor ?? null;
      this.#problem = null;
    } catch (why) {
      if (mine !== this.#asked) {
        return;
      }
      this.#problem = why;
      this.#keys = null;
      this.#value.clear();
    }
    this.#show();
    if (cursor !== null) {
      // The button that was pressed has moved, or is gone.
      requestAnimationFrame(() => requestAnimationFrame(() => this.#focusOn(this.#focus)));
    }
  }

  #focusOn(index) {
    const keys = this.#host.querySelectorAll('.key');
    const next = keys[Math.max(0, Math.min(index, keys.length - 1))];
    this.#focus = Array.from(keys).indexOf(next);
    this.#render();
    next?.focus();
  }

  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.#focusOn(Math.max(0, Math.min(this.#focus + step, this.#keys.length - 1)));
    }
  }

  #render() {
    render(html`
      <form class="query" @submit=${(event) => { event.preventDefault(); this.#value.clear(); this.#list(null); }}>
        <label for="prefix">Prefix</label>
        <input id="prefix" name="prefix" class="code" spellcheck="false" autocapitalize="none" autocomplete="off"
          placeholder="all keys" aria-describedby="prefix-help">
        <button type="submit" class="primary">List</button>
        <span id="prefix-help" class="below">Write a non-text byte as \\xNN, a backslash as \\\\</span>
      </form>
      ${this.#problem !== null ? refused(this.#problem) : nothing}
      <div class="browser">
        <div class="listing">${this.#keys === null ? empty('List keys to view them') : this.#listing()}</div>
        ${this.#value.render()}
      </div>
      ${this.#watch.render(() => this.#prefix())}`, this.#host);
  }

  #listing() {
    return html`
      <p class="below count" role="status">${this.#keys.length < this.#total
        ? `${whole(this.#keys.length)} of ${plural(this.#total, 'key')}` : plural(this.#total, 'key')} as of revision ${whole(this.#revision)}</p>
      ${this.#keys.length === 0 ? nothing : html`
      <ul class="keylist" aria-label="Keys; arrow keys move, Enter opens" @keydown=${(event) => this.#move(event)}>${this.#keys.map((key, i) => html`
        <li><button type="button" class="key" data-key=${key.id} tabindex=${i === this.#focus ? 0 : -1}
          aria-current=${this.#value.isChosen(key.id) ? 'true' : 'false'}
          @click=${() => { this.#focus = i; this.#value.choose(key.bytes); }}>
          <span class="code name">${shown(key.bytes)}</span><span class="below">${size(key.size)}</span></button></li>`)}</ul>`}
      ${this.#cursor === null ? nothing
        : html`<button type="button" class="more" @click=${() => this.#list(this.#cursor)}>More</button>`}`;
  }
}
