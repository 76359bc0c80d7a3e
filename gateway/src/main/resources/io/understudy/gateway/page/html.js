// What the parts of the page are written in. Values become text nodes and attributes, never markup.
import { html, nothing, render as into } from './lit-html.js';

export { html, nothing };

const hosts = new WeakSet();

/** What stood in the host before the first time gives way. */
export function render(template, host) {
  if (!hosts.has(host)) {
    hosts.add(host);
    host.replaceChildren();
  }
  into(template, host);
}

const WORDS = { ok: 'ok', warn: 'warning', bad: 'failed', unknown: 'unknown' };

/** Into the page once: whoever asked for each when it is shown would have none when the gateway is away. */
export async function loadIcons() {
  const response = await fetch('/dashboard/icons.svg');
  const { documentElement } = new DOMParser().parseFromString(await response.text(), 'image/svg+xml');
  documentElement.setAttribute('class', 'sprite');
  document.body.append(documentElement);
}

/** An icon that says nothing by itself: words stand beside it. */
export function icon(name) {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="#icon-${name}"></use></svg>`;
}

/** A state by shape, colour and word. */
export function mark(state, word = WORDS[state]) {
  return html`<span class="mark ${state}">${icon(state)}<span>${word}</span></span>`;
}

/** The same where there is room for the shape only; the word is for those who hear the page. */
export function dot(state, word = WORDS[state]) {
  return html`<span class="mark ${state}" title=${word}>${icon(state)}<span class="hidden">${word}</span></span>`;
}

export function empty(text) {
  return html`<p class="empty">${text}</p>`;
}
