// What is charted: samples by series, on one axis of time.

/** What the stream of the gateway begins with. */
export const WINDOW_MS = 15 * 60_000;

export class Samples {
  #longestMs;
  stepMs = 1000;
  times = [];
  series = new Map();

  constructor(longestMs = WINDOW_MS) {
    this.#longestMs = longestMs;
  }

  /** Those that the gateway has kept: after what is known, or else instead of it. */
  load({ step_ms: step, times, series }) {
    this.stepMs = step || this.stepMs;
    if (times[0] <= this.times.at(-1)) {
      this.clear();
    }
    times.forEach((time, i) => {
      const values = {};
      for (const name of Object.keys(series)) {
        values[name] = series[name][i];
      }
      this.add(time, values);
    });
  }

  clear() {
    this.times = [];
    this.series.clear();
  }

  add(time, values) {
    let last = this.times.at(-1);
    if (time === last) {
      return;
    }
    if (time < last) {
      // Its clock was set back, and what comes now can't stand after what came before.
      this.clear();
      last = undefined;
    }
    if (last !== undefined && time - last > this.stepMs * 2.5) {
      // Nobody knows what was in between: no line is drawn across.
      this.#append(last + this.stepMs, {});
    }
    this.#append(time, values);
    let old = 0;
    while (this.times[old] < time - this.#longestMs) {
      old++;
    }
    if (old > 0) {
      this.times.splice(0, old);
      this.series.forEach((column) => column.splice(0, old));
    }
  }

  /** A column as long as the times; all null for an unknown series. */
  column(name) {
    return this.series.get(name) ?? new Array(this.times.length).fill(null);
  }

  latest(name) {
    return this.series.get(name)?.at(-1) ?? null;
  }

  names(pattern) {
    return [...this.series.keys()].filter((name) => pattern.test(name)).sort();
  }

  #append(time, values) {
    for (const name of Object.keys(values)) {
      if (!this.series.has(name)) {
        this.series.set(name, new Array(this.times.length).fill(null));
      }
    }
    this.times.push(time);
    this.series.forEach((column, name) => column.push(values[name] ?? null));
  }
}
