// Keys and values are bytes: how they travel, and how they are shown.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UNRESERVED = /[A-Za-z0-9_~.-]/;

/** From the two members of the API: the content, and whether it is text or Base64. */
export function bytesOf(content, encoding) {
  return encoding === 'base64'
    ? Uint8Array.from(atob(content), (each) => each.charCodeAt(0))
    : new TextEncoder().encode(content);
}

export function percent(bytes) {
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return UNRESERVED.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

/** Null if it is no text. */
export function textOf(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** Controls, formats such as the direction of writing, and separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A key in one line: each byte of what is no text, or would not be seen, as \xNN, and a backslash twice. */
export function shown(bytes) {
  const text = textOf(bytes);
  return text !== null
    ? text.replaceAll('\\', '\\\\').replace(UNSEEN, (each) => Array.from(new TextEncoder().encode(each), escaped).join(''))
    : Array.from(bytes, (byte) => (byte === 0x5c ? '\\\\'
      : byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : escaped(byte))).join('');
}

function escaped(byte) {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** The reverse of what is shown, for what people type. */
export function typed(text) {
  const bytes = [];
  for (const [part] of text.matchAll(/\\x[0-9a-fA-F]{2}|\\\\|[^]/gu)) {
    if (part.length === 4 && part.startsWith('\\x')) {
      bytes.push(parseInt(part.slice(2), 16));
    } else if (part === '\\\\') {
      bytes.push(0x5c);
    } else {
      bytes.push(...new TextEncoder().encode(part));
    }
  }
  return Uint8Array.from(bytes);
}

export function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const pairs = row.map((byte) => byte.toString(16).padStart(2, '0'));
    const left = pairs.slice(0, 8).join(' ');
    const right = pairs.slice(8).join(' ');
    const ascii = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${`${left}  ${right}`.padEnd(49)} ${ascii}`);
  }
  return lines.join('\n');
}

/** Beyond them the spaces alone would keep the page busy. */
const DEEPEST = 200;
const LONGEST = 16 << 20;

/**
 * Indented, each number as it is written (JSON.parse would round those beyond 2^53); null if it is no JSON, or would be more
 * spaces than anything else.
 */
export function prettyJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  let out = '';
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  for (const [i, token] of tokens.entries()) {
    if (depth > DEEPEST || out.length > LONGEST) {
      return null;
    }
    if (token === '{' || token === '[') {
      out += token;
      if (tokens[i + 1] !== '}' && tokens[i + 1] !== ']') {
        depth++;
        out += `\n${'  '.repeat(depth)}`;
      }
    } else if (token === '}' || token === ']') {
      if (tokens[i - 1] !== '{' && tokens[i - 1] !== '[') {
        depth--;
        out += `\n${'  '.repeat(depth)}`;
      }
      out += token;
    } else if (token === ',') {
      out += `,\n${'  '.repeat(depth)}`;
    } else {
      out += token === ':' ? ': ' : token;
    }
  }
  return out;
}
