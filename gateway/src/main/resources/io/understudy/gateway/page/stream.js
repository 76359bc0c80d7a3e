// One stream of server-sent events, for as long as it is wanted: by fetch, since an EventSource can't say who asks.
import { EventParser } from './events.js';
import { headers, Refusal } from './session.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;
const CONNECT_MS = 5_000;
/** Who is cut off sooner than that waits longer the next time. */
const SETTLED_MS = 5_000;

/**
 * Begins at once; connects again whenever it is cut off, from the last id on. A closed connection reports nothing more.
 *
 * @param path of this gateway
 * @param quietMs(response) after which a connection that says nothing is given up
 * @param on opened(), event({name, data, id}), lost(why), refused(Refusal): the last ends it until retry()
 */
export function openStream(path, quietMs, on) {
  let lastId = '';
  let pause = FIRST_PAUSE_MS;
  let timer = 0;
  let attempt = null;
  let closed = false;

  async function connect() {
    const mine = new AbortController();
    attempt = mine;
    let watchdog = setTimeout(() => mine.abort(new Error('no response')), CONNECT_MS);
    let opened = null;
    const current = () => attempt === mine;
    try {
      const response = await fetch(path, {
        headers: headers({ Accept: 'text/event-stream', ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) }),
        signal: mine.signal,
        cache: 'no-store',
      });
      if (!response.ok) {
        throw await Refusal.of(response);
      }
      if (!current()) {
        return;
      }
      opened = performance.now();
      const quiet = quietMs(response);
      on.opened();
      const parser = new EventParser((event) => current() && on.event(event));
      parser.lastId = lastId;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      while (true) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => mine.abort(new Error('no data received')), quiet);
        const { done, value } = await reader.read();
        if (!current()) {
          return;
        }
        if (done) {
          throw new Error('the gateway closed the stream');
        }
        parser.push(value);
        if (!current()) {
          return;
        }
        lastId = parser.lastId;
      }
    } catch (why) {
      if (current() && !closed) {
        attempt = null;
        failed(why, opened !== null && performance.now() - opened > SETTLED_MS);
      }
    } finally {
      clearTimeout(watchdog);
      mine.abort();
    }
  }

  function failed(why, settled) {
    if (why instanceof Refusal && why.status < 500 && why.status !== 429) {
      on.refused(why);
      return;
    }
    pause = settled ? FIRST_PAUSE_MS : pause;
    on.lost(why);
    timer = setTimeout(connect, pause * (0.75 + Math.random() / 2));
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  function stop() {
    clearTimeout(timer);
    const old = attempt;
    attempt = null;
    old?.abort();
  }

  connect();
  return {
    /** At once, whatever it was about to do; for somebody else from the beginning. */
    retry(anew = false) {
      stop();
      lastId = anew ? '' : lastId;
      pause = FIRST_PAUSE_MS;
      connect();
    },
    close() {
      closed = true;
      stop();
    },
  };
}

/** Unless the response has another. */
const HEARTBEAT_MS = 15_000;
/** A busy machine is no dead one. */
const SHORTEST_QUIET_MS = 2_000;

/** For streams of commits, which say something at each heartbeat at the least: one that has missed two is dead. */
export function threeHeartbeats(response) {
  const heartbeat = Number(response.headers.get('Understudy-Heartbeat-Ms')) || HEARTBEAT_MS;
  return Math.max(3 * heartbeat, SHORTEST_QUIET_MS);
}
