// Samples as lines. Series differ by dashes as well as by colour.
const HEIGHT = 148;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 4]];

const CHARTS = [
  { id: 'consistency', title: 'Reads by consistency', unit: 'per s', series: ['serializable', 'bounded', 'at-least', 'linearizable']
    .map((name) => [`reads.${name}`, name]) },
  { id: 'source', title: 'Reads by origin', unit: 'per s', series: ['replica', 'learner', 'gateway', 'voter']
    .map((name) => [`reads.from.${name}`, name]) },
  { id: 'latency', title: 'Read latency', unit: 'ms', series: [['latency.p50_ms', 'p50'], ['latency.p99_ms', 'p99']] },
  { id: 'staleness', title: 'Staleness', unit: 'ms', band: true,
    series: [['staleness_ms', 'mean'], ['staleness_ms.min', 'min'], ['staleness_ms.max', 'max']] },
  { id: 'lag', title: 'Mirror lag', unit: 'ms', pattern: /^mirror\.(.*)\.lag_ms$/, of: 'No mirrors yet' },
  { id: 'apply', title: 'Commits applied', unit: 'per s', series: [['apply', 'this gateway']] },
  { id: 'watchers', title: 'Watchers', unit: 'watchers', series: [['watchers', 'this gateway']] },
  { id: 'events', title: 'Events sent to watchers', unit: 'per s', series: [['watch.events', 'this gateway']] },
];

const amount = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const tick = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = (seconds, step) => {
  const at = new Date(seconds * 1000);
  return [at.getHours(), at.getMinutes(), ...(step < 60 ? [at.getSeconds()] : [])].map((part) => String(part).padStart(2, '0')).join(':');
};

function element(tag, className, text = '') {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Where values have none before and none after them, which makes no line. */
const alone = (values) => [...values.keys()]
  .filter((at) => values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null);

/** One chart in its card. */
class Chart {
  #plot = null;
  #names = [];
  #hovered = null;
  #values = [];

  constructor(definition, shown) {
    this.definition = definition;
    this.shown = shown;
    this.card = element('figure', 'card chart');
    this.card.dataset.chart = definition.id;
    const caption = element('figcaption', 'caption');
    caption.append(element('h3', '', definition.title), element('span', 'unit', definition.unit));
    this.canvas = element('div', 'plot');
    this.canvas.setAttribute('role', 'img');
    this.nothing = element('p', 'nothing', definition.of ?? 'Nothing to show yet');
    this.legend = element('ul', 'legend');
    const frame = element('div', 'frame');
    frame.append(this.canvas, this.nothing);
    this.card.append(caption, frame, this.legend);
    this.#describe();
    new ResizeObserver(() => this.#fit()).observe(frame);
  }

  get samples() {
    return this.shown.samples;
  }

  #series() {
    const { pattern, series } = this.definition;
    return series ?? this.samples.names(pattern).map((name) => [name, pattern.exec(name)[1]]);
  }

  #fit() {
    const width = this.canvas.parentElement.clientWidth;
    if (this.#plot !== null && width > 0 && width !== this.#plot.width) {
      this.#plot.setSize({ width, height: HEIGHT });
    }
  }

  /** Anew: other series, or other colours. */
  rebuild() {
    this.#plot?.destroy();
    this.#plot = null;
    const series = this.#series();
    this.#names = series.map(([name]) => name);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--muted'), font: `11px ${colour('--sans')}`, gap: 4,
      grid: { stroke: colour('--grid'), width: 1 }, ticks: { show: false },
    };
    const range = () => this.shown.window().map((time) => time / 1000);
    // A band fills the space between the second and the third series, the extremes of the first.
    const { band = false } = this.definition;
    const ink = (i) => `series-${band ? 0 : i % 6}`;
    const options = {
      width: this.canvas.parentElement.clientWidth || 300,
      height: HEIGHT,
      padding: [8, 10, 0, 0],
      legend: { show: false },
      cursor: {
        // All charts share one range: a selection is handled here, not published.
        sync: { key: 'understudy', filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
        y: false, drag: { x: true, y: false, setScale: false, dist: 5 }, points: { size: 6 },
        bind: { dblclick: () => () => this.shown.reset() },
      },
      scales: { x: { time: true, range }, y: { range: (plot, low, high) => [0, high > 0 ? high * 1.15 : 1] } },
      axes: [
        { ...axis, size: 24, space: 70, values: (plot, splits, index, space, step) => splits.map((each) => clock(each, step)) },
        { ...axis, size: 46, space: 32, values: (plot, splits) => splits.map((each) => tick.format(each)) },
      ],
      series: [{}, ...series.map(([, label], i) => ({
        label, stroke: colour(`--${ink(i)}`), width: band && i > 0 ? 0.8 : 1.6, dash: DASHES[i % DASHES.length],
        points: { show: false, size: 4, fill: colour(`--${ink(i)}`), filter: (plot) => alone(plot.data[i + 1]) },
        fill: series.length === 1 ? colour('--series-fill') : undefined,
      }))],
      bands: band ? [{ series: [3, 2], fill: colour('--series-band') }] : [],
      hooks: { setCursor: [(plot) => this.#hover(plot.cursor.idx)], setSelect: [(plot) => this.#select(plot)] },
    };
    this.#plot = new uPlot(options, this.#data(), this.canvas);
    this.#plot.root.querySelectorAll('canvas').forEach((canvas) => canvas.setAttribute('aria-hidden', 'true'));
    this.#values = [];
    this.legend.replaceChildren(...series.map(([, label], i) => this.#entry(label, i, ink(i))));
    this.#tell();
  }

  #entry(label, i, ink) {
    const swatch = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    swatch.setAttribute('class', `swatch ${ink}`);
    swatch.setAttribute('viewBox', '0 0 22 4');
    swatch.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    line.setAttribute('d', 'M0 2H22');
    line.setAttribute('stroke-dasharray', DASHES[i % DASHES.length].join(' '));
    swatch.append(line);
    const value = element('span', 'now');
    this.#values.push(value);
    const entry = document.createElement('li');
    entry.append(swatch, element('span', 'label', label), value);
    return entry;
  }

  #data() {
    return [this.samples.times.map((time) => time / 1000), ...this.#names.map((name) => this.samples.column(name))];
  }

  update() {
    const names = this.#series().map(([name]) => name);
    if (this.#plot === null || names.join() !== this.#names.join()) {
      this.rebuild();
    } else {
      this.#plot.setData(this.#data());
    }
    this.nothing.hidden = this.#names.some((name) => this.samples.column(name).some((value) => value !== null));
    this.#tell();
    this.#describe();
  }

  #select(plot) {
    const { left, width } = plot.select;
    if (width > 0) {
      plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      this.shown.zoom(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000);
    }
  }

  #hover(index) {
    this.#hovered = index ?? null;
    this.#tell();
  }

  #tell() {
    const hovered = this.#hovered !== null && this.#hovered < this.samples.times.length;
    this.#valuesAt(hovered ? this.#hovered : this.#end()).forEach((value, i) => {
      this.#values[i].textContent = value === null ? '–' : amount.format(value);
    });
  }

  /** The index of the last sample that is shown. */
  #end() {
    const [, end] = this.shown.window();
    return this.samples.times.findLastIndex((time) => time <= end);
  }

  #valuesAt(index) {
    return this.#names.map((name) => this.samples.column(name)[index] ?? null);
  }

  /** For screen readers: read on demand, not announced. */
  #describe() {
    const { title, unit } = this.definition;
    const values = this.#valuesAt(this.#end());
    const ends = this.#series().map(([, label], i) => `${label} ${(values[i] ?? null) === null ? 'unknown'
      : `${amount.format(values[i])} ${unit}`}`);
    this.canvas.setAttribute('aria-label', `${title}, chart: ${this.shown.title}. At the end: ${ends.join(', ') || 'nothing'}`);
  }
}

/** All charts, into their place; gives what is called whenever there are new samples, and whenever colours change. */
export function charts(host, shown) {
  const all = CHARTS.map((definition) => new Chart(definition, shown));
  host.replaceChildren(...all.map((chart) => chart.card));
  return {
    update: () => all.forEach((chart) => chart.update()),
    recolour: () => all.forEach((chart) => chart.rebuild()),
  };
}
