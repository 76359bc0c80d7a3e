// Mirrors, whichever processes run them: those that have one name and one target are one mirror, of which one process is active.
import { address } from './format.js';
import { place } from './places.js';

/** The level of each state, in the order in which processes of one mirror are shown; unknown states come first. */
export const STATES = {
  synced: 'ok', differs: 'bad', torn: 'warn', syncing: 'warn', starting: 'unknown', retrying: 'warn', conflict: 'bad', failed: 'bad',
  stopped: 'bad', standby: 'ok',
};

function rank({ gone, state }) {
  return gone ? Infinity : Object.keys(STATES).indexOf(state);
}

/**
 * Each mirror once, as the process tells that is active, or else would be first: what its status says, and
 * {label, url, gone, others, idle}. The label is its name, with the process where mirrors with other targets are called the same;
 * gone says why the process tells no more, null if it does; others are the same of the other processes that run it. It is idle if
 * they are shown and none of them is active.
 */
export function mirrorsOf(overview) {
  const found = new Map();
  for (const { url, reachable, message, mirrors } of overview?.mirrors ?? []) {
    for (const mirror of mirrors ?? []) {
      const id = JSON.stringify([mirror.name, place(mirror.target).id]);
      const gone = reachable ? null : message ?? 'unreachable';
      found.set(id, [...found.get(id) ?? [], { ...mirror, url, gone }]);
    }
  }
  const names = new Set();
  return [...found.values()].map((processes) => {
    const { name, url } = processes[0];
    const label = names.has(name) ? `${name} at ${address(url)}` : name;
    names.add(name);
    const [first, ...others] = [...processes].sort((one, other) => rank(one) - rank(other));
    return { ...first, label, others, idle: others.length > 0 && first.gone === null && first.state === 'standby' };
  });
}

/** What the other processes of a mirror are doing, in words. */
export function otherwise({ others }) {
  return others.map(({ url, gone, state }) => `${gone ? 'unreachable' : state}: ${address(url)}`);
}
