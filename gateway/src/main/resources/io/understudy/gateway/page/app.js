// Puts the parts in their places, and lets the stream tell them what there is.
import { alert, banners, faces, pulse } from './banner.js';
import { charts } from './charts.js';
import { checks } from './checks.js';
import { figures, footer, identity } from './figures.js';
import { graph } from './graph.js';
import { loadIcons, render } from './html.js';
import { KeyBrowser } from './keybrowser.js';
import { controls, login, openLogin } from './login.js';
import { members } from './members.js';
import { mirrors } from './mirrors.js';
import { gateways, supervisors } from './peers.js';
import { session } from './session.js';
import { changed, link, onChange, received, state } from './state.js';
import { openStream } from './stream.js';
import { TimeRange } from './timerange.js';
import { arrange, topology } from './topology.js';

const theme = globalThis.understudyTheme;
const place = (id) => document.getElementById(id);
const range = new TimeRange(state.samples, () => {
  render(range.render(), place('charts-head'));
  plots.update();
});
const plots = charts(place('charts-body'), range);

const LOGIN_NEEDED = 401;
/** The gateway speaks every second. */
const QUIET_MS = 5_000;
/** Whose samples these are, by name; null while there are none. */
let charted = null;

function forgetSamples() {
  charted = null;
  state.samples.clear();
  range.forget();
  plots.update();
}

/** Behind one address there may be several gateways: whether this one is another, whose samples have to be asked for anew. */
function isAnother(name) {
  if (charted !== null && name !== undefined && name !== charted) {
    forgetSamples();
    stream.retry(true);
    return true;
  }
  charted ??= name ?? null;
  return false;
}

const stream = openStream('/v1/overview/events', () => QUIET_MS, {
  opened: () => link('live'),
  lost: (why) => {
    if (state.link.phase !== 'lost') {
      link('lost', why.message);
    }
  },
  refused: (why) => {
    state.overview = null;
    link(why.status === LOGIN_NEEDED ? 'needed' : 'refused', why.message);
  },
  event: ({ name, data }) => {
    const content = JSON.parse(data);
    if (isAnother(name === 'history' ? content.gateway : content.gateway?.name)) {
      return;
    }
    if (name === 'history') {
      state.samples.load(content);
      plots.update();
    } else if (name === 'overview') {
      if (content.sample) {
        state.samples.add(content.sample.time, content.sample.values);
        range.refresh();
        plots.update();
      }
      received(content);
    }
  },
});

function show() {
  const level = faces(state).reduce((worst, face) => (face.level === 'bad' ? 'bad' : worst), 'ok');
  document.title = `${level === 'bad' ? '⚠ ' : ''}${state.overview?.gateway?.name ?? 'Understudy'} · Understudy`;
  document.body.dataset.phase = state.link.phase;
  render(alert(state), place('alert'));
  render(banners(state, () => stream.retry()), place('banners'));
  render(identity(state), place('identity'));
  render(controls(pulse(state), theme, changed), place('controls'));
  render(login(state, changed), place('login'));
  render(figures(state), place('figures'));
  render(range.render(), place('charts-head'));
  render(topology(graph(state)), place('topology-body'));
  arrange(place('topology-body'));
  render(members(state), place('members-body'));
  render(checks(state), place('checks-body'));
  render(mirrors(state), place('mirrors-body'));
  render(gateways(state), place('gateways-body'));
  render(supervisors(state), place('events-body'));
  render(footer(state), place('footer'));
}

// Without icons there are still words.
loadIcons().catch(() => {});
onChange(show);
show();
plots.update();
new KeyBrowser(place('keys-body'), () => state.overview?.gateway?.oldest_revision ?? null);
new ResizeObserver(() => arrange(place('topology-body'))).observe(place('topology-body'));
theme.onChange(() => {
  plots.recolour();
  changed();
});
session.onChange(() => {
  // What one user has seen is not for the next.
  state.overview = null;
  forgetSamples();
  link('connecting');
  stream.retry(true);
});
document.addEventListener('understudy:sign-in', (event) => {
  openLogin();
  changed();
  requestAnimationFrame(() => requestAnimationFrame(() => place('login').querySelector('input')?.focus()));
});
// Ages grow while nothing comes.
setInterval(changed, 500);
