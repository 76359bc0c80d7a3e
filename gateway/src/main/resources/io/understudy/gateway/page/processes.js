// Mirrors, whichever processes run them: those with one label are one mirror, of which one process is active.
import { address } from './format.js';

/** The level of each state, in the order in which processes of one mirror are shown; unknown states come first. */
export const STATES = {
  synced: 'ok', differs: 'bad', torn: 'warn', syncing: 'warn', starting: 'unknown', retrying: 'warn', conflict: 'bad', failed: 'bad',
  stopped: 'bad', standby: 'ok',
};

function rank({ gone, state }) {
  return gone ? Infinity : Object.keys(STATES).indexOf(state);
}

/**
 * Each mirror once: the status of its active process, or else of the first one, and {url, gone, others, idle}. gone is why the
 * process is unreachable, or null; others are the statuses of its other processes. It is idle if none of several is active.
 */
export function mirrorsOf(overview) {
  const found = new Map();
  for (const { url, reachable, message, mirrors } of overview?.mirrors ?? []) {
    for (const mirror of mirrors ?? []) {
      const gone = reachable ? null : message ?? 'unreachable';
      found.set(mirror.label, [...found.get(mirror.label) ?? [], { ...mirror, url, gone }]);
    }
  }
  return [...found.values()].map((processes) => {
    const [first, ...others] = [...processes].sort((one, other) => rank(one) - rank(other));
    return { ...first, others, idle: others.length > 0 && first.gone === null && first.state === 'standby' };
  });
}

/** What the other processes of a mirror are doing, in words. */
export function otherwise({ others }) {
  return others.map(({ url, gone, state }) => `${gone ? 'unreachable' : state}: ${address(url)}`);
}
