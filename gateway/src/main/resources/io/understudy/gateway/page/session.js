// Who the user is, for as long as the tab lives: the login goes nowhere but into requests to this gateway.
const KEY = 'understudy.login';
const listeners = new Set();
let memory = null;

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? memory;
  } catch {
    return memory;
  }
}

function write(login) {
  memory = login;
  try {
    if (login === null) {
      sessionStorage.removeItem(KEY);
    } else {
      sessionStorage.setItem(KEY, JSON.stringify(login));
    }
  } catch {
    // Then the page alone knows.
  }
  listeners.forEach((listener) => listener());
}

function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

export const session = {
  user: () => read()?.user ?? null,
  signIn: (user, password) => write({ user, authorization: `Basic ${base64(`${user}:${password}`)}` }),
  signOut: () => write(null),
  onChange: (listener) => listeners.add(listener),
};

/** For each request. By the second one the gateway knows that the page asks for the login, not the browser. */
export function headers(more = {}) {
  const login = read();
  return {
    'X-Requested-With': 'understudy',
    ...(login === null ? {} : { Authorization: login.authorization }),
    ...more,
  };
}

/** The gateway says no, and why. */
export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }

  static async of(response) {
    let detail = `HTTP ${response.status}`;
    try {
      detail = (await response.json()).detail ?? detail;
    } catch {
      // Somebody in between has answered.
    }
    return new Refusal(response.status, detail);
  }
}

const DEADLINE_MS = 10_000;

/** The JSON at a path of this gateway; throws a Refusal, or whatever the connection says. */
export async function ask(path, signal) {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const response = await fetch(path, {
    headers: headers({ Accept: 'application/json' }),
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    cache: 'no-store',
  });
  if (!response.ok) {
    throw await Refusal.of(response);
  }
  return response.json();
}
