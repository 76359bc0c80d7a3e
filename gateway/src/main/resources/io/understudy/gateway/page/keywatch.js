// Commits as they happen below a prefix. Paused, it goes on counting, and shows later what came meanwhile.
import { copyButton, etcdctl } from './command.js';
import { empty, html, icon, nothing } from './html.js';
import { plural, whole } from './format.js';
import { bytesOf, percent, shown } from './keybytes.js';
import { refused, snippet } from './keyvalue.js';
import { openStream, threeHeartbeats } from './stream.js';

const MOST = 100;

export class KeyWatch {
  #show;
  #stream = null;
  #paused = false;
  #shownChanges = [];
  #held = [];
  #heldCount = 0;
  #problem = null;
  #lost = false;
  #gap = null;
  #prefix = null;

  constructor(show) {
    this.#show = show;
  }

  start(prefix) {
    this.stop();
    this.#prefix = prefix;
    this.#open(`/v1/watch?prefix=${percent(prefix)}`);
    this.#show();
  }

  #open(path) {
    this.#stream = openStream(path, threeHeartbeats, {
      opened: () => {
        this.#problem = null;
        this.#lost = false;
        this.#show();
      },
      lost: () => {
        this.#lost = true;
        this.#show();
      },
      refused: (why) => {
        this.#problem = why;
        this.#show();
      },
      event: ({ name, data }) => {
        if (name === 'message') {
          this.#take(JSON.parse(data).changes);
        } else if (name === 'gap') {
          // The same position would get the same response.
          this.#gap = JSON.parse(data).revision;
          this.#stream.close();
          this.#open(`/v1/watch?prefix=${percent(this.#prefix)}&revision=${this.#gap + 1}`);
          this.#show();
        }
      },
    });
  }

  stop() {
    this.#stream?.close();
    this.#stream = null;
    this.#paused = false;
    this.#shownChanges = [];
    this.#held = [];
    this.#heldCount = 0;
    this.#problem = null;
    this.#lost = false;
    this.#gap = null;
  }

  #take(changes) {
    const into = this.#paused ? this.#held : this.#shownChanges;
    changes.forEach((change) => into.unshift(change));
    into.length = Math.min(into.length, MOST);
    if (this.#paused) {
      this.#heldCount += changes.length;
    }
    this.#show();
  }

  #pause() {
    this.#paused = !this.#paused;
    if (!this.#paused) {
      this.#shownChanges = [...this.#held, ...this.#shownChanges].slice(0, MOST);
      this.#held = [];
      this.#heldCount = 0;
    }
    this.#show();
  }

  render(prefixNow) {
    if (this.#stream === null) {
      return html`<div class="watch"><button type="button" class="start-watch" @click=${() => this.start(prefixNow())}>
        ${icon('live')} Watch this prefix</button></div>`;
    }
    return html`<section class="watch" aria-label="Live watch">
      <div class="head"><h3>Live <span class="code">${this.#prefix.length === 0 ? 'all keys' : shown(this.#prefix)}</span></h3>
        <button type="button" class="pause" aria-pressed=${this.#paused} @click=${() => this.#pause()}>
          ${icon(this.#paused ? 'play' : 'pause')} ${this.#paused ? 'Resume' : 'Pause'}</button>
        <button type="button" class="stop" @click=${() => { this.stop(); this.#show(); }}>Stop</button></div>
      ${copyButton(etcdctl('watch', ['--prefix'], this.#prefix))}
      ${this.#paused ? html`<p class="below">${plural(this.#heldCount, 'change')} since the watch was paused</p>` : nothing}
      ${this.#lost ? html`<p class="below">Interrupted; resumes from the last revision when the gateway is reachable</p>` : nothing}
      ${this.#gap === null ? nothing : html`<p class="below gap">${icon('warn')} Some changes up to revision ${whole(this.#gap)} are
        missing: they were compacted before delivery</p>`}
      ${this.#problem !== null ? refused(this.#problem) : this.#shownChanges.length === 0 ? empty('No changes yet') : html`
        <ol class="history" tabindex="0" aria-label="Changes, newest first">${this.#shownChanges.map((change) => html`<li>
          <span class="when">${whole(change.mod_revision)}</span> <span class="change ${change.type}">${change.type}</span>
          <span class="code name">${shown(bytesOf(change.key, change.key_encoding))}</span>
          ${change.type === 'put' ? html`<span class="code snippet">${snippet(change)}</span>` : nothing}</li>`)}</ol>`}
    </section>`;
  }
}
