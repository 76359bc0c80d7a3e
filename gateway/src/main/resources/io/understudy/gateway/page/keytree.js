// The keys below a prefix as a tree: the levels that were opened, kept up to date by a watch.
import { bytesOf, percent, shown } from './keybytes.js';
import { ask } from './session.js';
import { openStream, threeHeartbeats } from './stream.js';

const PAGE = 50;
/** Maximum size of a level, as in the gateway. */
const MOST_ENTRIES = 1_000;
/** Maximum number of changes kept for levels in flight. */
const MOST_RECENT = 1_000;
const SLASH = 0x2f;

function compare(one, other) {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) {
    if (one[i] !== other[i]) {
      return one[i] - other[i];
    }
  }
  return one.length - other.length;
}

/** The entries of one prefix; of a branch, keys is their number, of a key null. */
class Level {
  entries = [];
  count = 0;
  revision = 0;

  constructor(prefix, limit = PAGE) {
    this.prefix = prefix;
    this.limit = limit;
  }

  /** Number of keys that the entries represent. */
  get listed() {
    return this.entries.reduce((sum, { keys }) => sum + (keys ?? 1), 0);
  }

  async load() {
    const content = await ask(`/v1/tree?prefix=${percent(this.prefix)}&limit=${this.limit}&consistency=serializable`);
    this.count = content.count;
    this.revision = content.revision;
    this.entries = content.entries.map(({ key, key_encoding: encoding, keys = null }) => {
      const bytes = bytesOf(key, encoding);
      return { bytes, id: percent(bytes), keys };
    });
  }

  /** Applies the creation (1) or deletion (-1) of a key. */
  take(key, change) {
    const complete = this.listed === this.count;
    this.count += change;
    const slash = key.indexOf(SLASH, this.prefix.length);
    const bytes = slash < 0 ? key : key.subarray(0, slash + 1);
    const found = this.entries.findIndex((each) => compare(each.bytes, bytes) >= 0);
    const at = found < 0 ? this.entries.length : found;
    const entry = this.entries[at];
    if (entry !== undefined && compare(entry.bytes, bytes) === 0) {
      entry.keys = entry.keys === null ? null : entry.keys + change;
      if (change < 0 && !entry.keys) {
        this.entries.splice(at, 1);
      }
    } else if (change > 0 && (complete || entry !== undefined)) {
      this.entries.splice(at, 0, { bytes, id: percent(bytes), keys: slash < 0 ? null : 1 });
      this.entries.length = Math.min(this.entries.length, MOST_ENTRIES);
    }
  }
}

export class KeyTree {
  #on;
  #levels = new Map();
  #stream = null;
  /** Number of the list, so that responses for an earlier one are dropped. */
  #generation = 0;
  /** Recent creations and deletions, applied to levels whose response was in flight. */
  #recent = [];
  #dropped = 0;
  #follows = true;
  root = null;
  revision = 0;
  live = false;

  /** on: changed(), failed(error) of a request, and change(change) of a key below the prefix. */
  constructor(on) {
    this.#on = on;
  }

  clear() {
    this.#generation++;
    this.#stream?.close();
    this.#stream = null;
    this.#levels.clear();
    this.#recent = [];
    this.#dropped = 0;
    this.root = null;
    this.live = false;
  }

  /** Replaces the tree by the keys below a prefix. */
  async list(prefix, limit) {
    const root = await this.#loaded(new Level(prefix, limit), ++this.#generation);
    if (root !== null) {
      this.clear();
      this.root = root;
      this.revision = root.revision;
      if (this.#follows) {
        this.#watch(root.revision + 1);
      }
      this.#on.changed();
    }
  }

  /** Starts or stops to follow changes, which a busy cluster has many of. */
  follow(now) {
    this.#follows = now;
    if (!now) {
      this.#stream?.close();
      this.#connected(false);
    } else if (this.root !== null) {
      this.list(this.root.prefix);
    }
  }

  async open({ bytes, id }) {
    const level = await this.#loaded(new Level(bytes), this.#generation);
    if (level !== null) {
      this.#levels.set(id, level);
      this.#on.changed();
    }
  }

  close({ id }) {
    this.#levels.delete(id);
    this.#on.changed();
  }

  /** Reads a level with one more page; also the first pages may have changed. */
  async more(level) {
    level.limit = Math.min(level.limit + PAGE, MOST_ENTRIES);
    await this.#loaded(level, this.#generation);
    this.#on.changed();
  }

  /** Loads a level; null if that failed, or another list was requested since. */
  async #loaded(level, generation) {
    try {
      await level.load();
    } catch (why) {
      if (generation === this.#generation) {
        this.#on.failed(why);
      }
      return null;
    }
    if (generation === this.#generation && this.#dropped > level.revision) {
      return this.#loaded(level, generation);
    }
    this.#recent.forEach((change) => take(level, change));
    return generation === this.#generation ? level : null;
  }

  #watch(from) {
    this.#stream = openStream(`/v1/watch?prefix=${percent(this.root.prefix)}&revision=${from}`, threeHeartbeats, {
      opened: () => this.#connected(true),
      lost: () => this.#connected(false),
      refused: (why) => {
        this.#connected(false);
        this.#on.failed(why);
      },
      event: ({ name, data }) => {
        if (name === 'gap') {
          // As long as it was.
          this.list(this.root.prefix, this.root.limit);
        } else {
          JSON.parse(data).changes.forEach((change) => this.#take(change));
          this.#on.changed();
        }
      },
    });
  }

  #connected(now) {
    this.live = now;
    this.#on.changed();
  }

  #take(change) {
    this.revision = change.mod_revision;
    this.#on.change(change);
    if (change.type === 'put' && change.version > 1) {
      return;
    }
    this.#recent.push(change);
    if (this.#recent.length > MOST_RECENT) {
      this.#dropped = this.#recent.shift().mod_revision;
    }
    take(this.root, change);
    this.#levels.forEach((level, id) => {
      take(level, change);
      if (level.count === 0) {
        this.#levels.delete(id);
      }
    });
  }

  /** Returns the visible rows: {entry, level, depth, open}, or {more: level, depth} for another page. */
  rows(filter) {
    const rows = [];
    const walk = (level, depth) => {
      for (const entry of level.entries) {
        const at = rows.length;
        const below = entry.keys === null ? undefined : this.#levels.get(entry.id);
        rows.push({ entry, level, depth, open: below !== undefined });
        if (below !== undefined) {
          walk(below, depth + 1);
        }
        if (rows.length === at + 1 && !shown(entry.bytes).toLowerCase().includes(filter)) {
          rows.pop();
        }
      }
      if (filter === '' && level.listed < level.count && level.limit < MOST_ENTRIES) {
        rows.push({ more: level, depth });
      }
    };
    if (this.root !== null) {
      walk(this.root, 1);
    }
    return rows;
  }
}

/** Applies a change to a level that was read before it. */
function take(level, change) {
  const key = bytesOf(change.key, change.key_encoding);
  if (change.mod_revision > level.revision && level.prefix.every((byte, i) => key[i] === byte)) {
    level.take(key, change.type === 'put' ? 1 : -1);
  }
}
