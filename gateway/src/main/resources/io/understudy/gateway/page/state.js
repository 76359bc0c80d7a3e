// What the page knows, in one place. Whoever changes it has it shown, once per frame.
import { Samples } from './samples.js';

export const STALE_MS = 3_000;

export const state = {
  /** Of the stream: connecting, live, lost (since a time), needed or refused (a login). */
  link: { phase: 'connecting', since: null, message: null },
  overview: null,
  receivedAt: 0,
  now: Date.now(),
  samples: new Samples(),
};

const listeners = [];
let due = false;

export function onChange(listener) {
  listeners.push(listener);
}

export function changed() {
  if (due) {
    return;
  }
  due = true;
  // A frame that never comes, as in a tab that nobody looks at, must not keep what is there from being shown later.
  requestAnimationFrame(() => {
    due = false;
    state.now = Date.now();
    listeners.forEach((listener) => listener(state));
  });
}

export function link(phase, message = null) {
  const since = state.link.phase === phase ? state.link.since : Date.now();
  state.link = { phase, since, message };
  changed();
}

export function received(overview) {
  state.overview = overview;
  state.receivedAt = Date.now();
  changed();
}

/** How old the newest news are, in ms; null before the first. */
export function age() {
  return state.overview === null ? null : Math.max(0, state.now - state.receivedAt);
}
