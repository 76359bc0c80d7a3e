// Numbers with their units, each as wide as the one before it.
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

export const UNKNOWN = '–';

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

export function whole(value) {
  return known(value) ? WHOLE.format(value) : UNKNOWN;
}

export function rate(value) {
  if (!known(value)) {
    return UNKNOWN;
  }
  return value >= 100_000 ? `${TENTHS.format(value / 1000)}k` : value >= 1000 ? WHOLE.format(value) : TENTHS.format(value);
}

/** As [amount, unit]. */
export function millis(value) {
  if (!known(value)) {
    return [UNKNOWN, 'ms'];
  }
  if (value < 10 && !Number.isInteger(value)) {
    return [TENTHS.format(value), 'ms'];
  }
  if (value < 1000) {
    return [WHOLE.format(value), 'ms'];
  }
  if (value < 60_000) {
    return [TENTHS.format(value / 1000), 's'];
  }
  if (value < 3_600_000) {
    return [TENTHS.format(value / 60_000), 'min'];
  }
  return [TENTHS.format(value / 3_600_000), 'h'];
}

export function duration(value) {
  return millis(value).join(' ');
}

/** As [amount, unit]. */
export function bytes(value) {
  if (!known(value)) {
    return [UNKNOWN, 'B'];
  }
  let amount = value;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (amount < 1024 || unit === 'GiB') {
      return [unit === 'B' ? WHOLE.format(amount) : TENTHS.format(amount), unit];
    }
    amount /= 1024;
  }
  return [UNKNOWN, 'B'];
}

export function size(value) {
  return bytes(value).join(' ');
}

export function plural(count, one, many = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** A time of today, or with its date. */
export function time(when) {
  const date = when instanceof Date ? when : new Date(when);
  if (Number.isNaN(date.getTime())) {
    return UNKNOWN;
  }
  const today = new Date().toDateString() === date.toDateString();
  return today ? TIME.format(date) : `${day(date)} ${TIME.format(date)}`;
}

/** Where the user is, as the time beside it. */
function day(date) {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Short for an address: without what all have. */
export function address(url) {
  return String(url).replace(/^https?:\/\//, '').replace(/\/$/, '');
}
