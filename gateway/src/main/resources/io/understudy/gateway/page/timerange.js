// The time range of the charts and its samples: from the stream, or older ones loaded from the gateway.
import { html, nothing } from './html.js';
import { time } from './format.js';
import { ask } from './session.js';
import { Samples, WINDOW_MS } from './samples.js';

const MINUTE = 60_000;
const RANGES = [[15 * MINUTE, '15 min', 'The last 15 minutes'], [60 * MINUTE, '1 h', 'The last hour'],
  [360 * MINUTE, '6 h', 'The last 6 hours'], [1440 * MINUTE, '24 h', 'The last 24 hours']];
const LONGEST = 1440 * MINUTE;
const SHORTEST = 10_000;
/** The shortest step of older samples. */
const RELOAD_MS = 15_000;

export class TimeRange {
  #live;
  #changed;
  #length = WINDOW_MS;
  /** A fixed window as [from, to]; null to follow the current time. */
  #zoomed = null;
  #older = new Samples(LONGEST + MINUTE);
  #loadedFrom = Infinity;
  #loadedAt = 0;
  #loading = 0;
  #problem = null;

  /** Calls changed() after each change of the range or of its samples. */
  constructor(live, changed) {
    this.#live = live;
    this.#changed = changed;
  }

  /** As [from, to] in ms. */
  window() {
    const now = this.#now();
    return this.#zoomed ?? [now - this.#length, now];
  }

  get title() {
    return this.#zoomed ? this.#zoomed.map(time).join(' to ') : RANGES.find(([length]) => length === this.#length)[2];
  }

  get samples() {
    return this.#isLive() ? this.#live : this.#older;
  }

  #now() {
    return this.#live.times.at(-1) ?? Date.now();
  }

  #isLive() {
    return this.window()[0] >= this.#now() - WINDOW_MS;
  }

  choose(length) {
    this.#length = length;
    this.reset();
  }

  /** Follows the current time. */
  reset() {
    this.#zoomed = null;
    this.#show();
  }

  /** Shows a fixed window, limited to the time for which the gateway keeps samples. */
  zoom(from, to) {
    const now = this.#now();
    const length = Math.min(Math.max(to - from, SHORTEST), LONGEST);
    const end = Math.min(Math.max((from + to + length) / 2, now - LONGEST + length), now);
    this.#zoomed = [end - length, end];
    this.#show();
  }

  #zoomIn() {
    const [from, to] = this.window();
    // From a range that follows the time, the newest half.
    this.zoom(this.#zoomed === null ? (from + to) / 2 : from + (to - from) / 4, this.#zoomed === null ? to : to - (to - from) / 4);
  }

  #zoomOut() {
    const [from, to] = this.window();
    if (this.#zoomed === null) {
      this.choose(RANGES.find(([length]) => length > this.#length)?.[0] ?? LONGEST);
    } else {
      this.zoom(from - (to - from) / 2, to + (to - from) / 2);
    }
  }

  #shift(share) {
    const [from, to] = this.window();
    this.zoom(from + share * (to - from), to + share * (to - from));
  }

  /** Discards loaded samples: they belong to another gateway or user. */
  forget() {
    this.#older.clear();
    this.#loadedFrom = Infinity;
    this.#loadedAt = 0;
    this.#loading++;
    this.#problem = null;
  }

  #show() {
    if (!this.#isLive()) {
      this.#load();
    }
    this.#changed();
  }

  /** Loads older samples if they are missing or out of date; called for each sample of the stream. */
  refresh() {
    const [from, to] = this.window();
    const missing = from < this.#loadedFrom || to > this.#older.times.at(-1);
    if (missing && !this.#isLive() && !document.hidden && Date.now() - this.#loadedAt > RELOAD_MS) {
      this.#load();
    }
  }

  async #load() {
    const mine = ++this.#loading;
    const from = Math.floor(this.window()[0]);
    this.#loadedAt = Date.now();
    try {
      const content = await ask(`/v1/overview/samples?from=${from}`);
      if (mine !== this.#loading) {
        return;
      }
      this.#older.clear();
      this.#older.load(content);
      this.#loadedFrom = from;
      this.#problem = null;
    } catch (why) {
      if (mine !== this.#loading) {
        return;
      }
      this.#problem = why;
    }
    this.#changed();
  }

  render() {
    const button = (label, sign, act, disabled = false) => html`
      <button type="button" class="round" aria-label=${label} title=${label} ?disabled=${disabled} @click=${act}>${sign}</button>`;
    const exact = (at) => html`<time datetime=${new Date(at).toISOString()}>${time(at)}</time>`;
    return html`<h2 id="charts-title" aria-live="polite">${this.#zoomed === null ? this.title
      : html`${exact(this.#zoomed[0])} to ${exact(this.#zoomed[1])}`}</h2>
      <fieldset class="forms"><legend class="hidden">Time range of the charts</legend>${RANGES.map(([length, name, title]) => html`
        <label><input type="radio" name="range" value=${length} aria-label=${title} .checked=${!this.#zoomed && length === this.#length}
          @change=${() => this.choose(length)}><span>${name}</span></label>`)}</fieldset>
      <div class="steps" role="group" aria-label="Zoom of the charts">
        ${button('Earlier', '‹', () => this.#shift(-0.5))}${button('Zoom out', '−', () => this.#zoomOut())}
        ${button('Zoom in', '+', () => this.#zoomIn())}${button('Later', '›', () => this.#shift(0.5), this.#zoomed === null)}
        ${this.#zoomed === null ? nothing
          : html`<button type="button" class="reset" @click=${() => this.reset()}>Reset</button>`}</div>
      ${this.#problem !== null ? html`<p class="reason">Older samples: ${this.#problem.message}</p>`
        : this.samples.stepMs > 1000 ? html`<p class="below">Each point: mean of ${this.samples.stepMs < MINUTE
          ? `${this.samples.stepMs / 1000} s` : `${this.samples.stepMs / MINUTE} min`}; maximum for latency
          and lag</p>` : nothing}`;
  }
}
