// Reads and watches of the page as etcdctl commands, to copy.
import { html } from './html.js';
import { textOf } from './keybytes.js';

/** Controls, formats such as the direction of writing, and separators of lines: unsafe to paste into a shell. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Bytes as one word of a POSIX shell; those that are no plain text in the quotes of bash, zsh and ksh. */
export function quoted(bytes) {
  const text = textOf(bytes);
  if (text !== null && !UNSEEN.test(text)) {
    return `'${text.replaceAll("'", "'\\''")}'`;
  }
  return `$'${Array.from(bytes, (byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
    ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join('')}'`;
}

export function etcdctl(verb, flags, bytes) {
  return ['etcdctl', verb, ...flags, '--', quoted(bytes)].join(' ');
}

export function copyButton(command) {
  return html`<div class="command"><code class="code">${command}</code>
    <button type="button" class="copy" @click=${(event) => copy(event.currentTarget, command)}>Copy</button></div>`;
}

/** Without HTTPS, browsers offer the clipboard to pages of localhost only; a selection can be copied from all. */
async function copy(button, command) {
  try {
    await navigator.clipboard.writeText(command);
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    document.execCommand('copy');
  }
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = 'Copy'; }, 2_000);
}
