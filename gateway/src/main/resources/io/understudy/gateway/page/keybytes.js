// Keys and values are bytes: how they travel, and how they are shown.
const strict = new TextDecoder('utf-8', { fatal: true });
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

/** A key in one line: what is no text, and what would not be seen, as \xNN. */
export function shown(bytes) {
  const text = textOf(bytes);
  return text !== null
    ? text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)
    : Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f
      ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join('');
}

/** The reverse of what is shown, for what people type. */
export function typed(text) {
  const bytes = [];
  for (const [part] of text.matchAll(/\\x[0-9a-fA-F]{2}|[^]/gu)) {
    if (part.length === 4 && part.startsWith('\\x')) {
      bytes.push(parseInt(part.slice(2), 16));
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

/** Indented, each number as it is written (JSON.parse would round those beyond 2^53); null if it is no JSON. */
export function prettyJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  let out = '';
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  tokens.forEach((token, i) => {
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
  });
  return out;
}
