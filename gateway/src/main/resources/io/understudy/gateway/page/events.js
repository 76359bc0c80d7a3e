// Server-sent events (HTML, section 9.2), from pieces of text as they come.
export class EventParser {
  #rest = '';
  #event = '';
  #data = [];
  lastId = '';

  constructor(onEvent) {
    this.onEvent = onEvent;
  }

  push(text) {
    const pieces = (this.#rest + text).split('\n');
    this.#rest = pieces.pop();
    for (const piece of pieces) {
      this.#line(piece.endsWith('\r') ? piece.slice(0, -1) : piece);
    }
  }

  #line(line) {
    if (line === '') {
      if (this.#data.length > 0) {
        this.onEvent({ name: this.#event || 'message', data: this.#data.join('\n'), id: this.lastId });
      }
      this.#event = '';
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#data.push(value);
    } else if (field === 'event') {
      this.#event = value;
    } else if (field === 'id' && !value.includes('\0')) {
      this.lastId = value;
    }
  }
}
