'use strict';

/**
 * Makes the page's charts live: legend, cursor and zoom by mouse and by keyboard, and a new drawing
 * when the width or the colour scheme changes.
 */
{
  const { draw, isCurve, isLine, numbered, time } = globalThis.tollgate;

  function listed(x) {
    if (Array.isArray(x)) return x;
    return Array.from({ length: x.count }, (_, at) => x.first + x.step * at);
  }

  const charts = JSON.parse(document.getElementById('charts').textContent);
  for (const { series } of charts) for (const each of series) each.x = listed(each.x);

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /** Where the cursor can stand: every x that was measured. */
  function stopsOf(chart) {
    const all = chart.series.filter((series) => !isCurve(series)).flatMap((series) => series.x);
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** The index of the value nearest to x, of values in order. */
  function nearest(values, x) {
    let [low, high] = [0, values.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && x - values[low - 1] <= values[low] - x ? low - 1 : low;
  }

  /** Where the series has a value at x; -1 for nowhere. */
  function placeOf(series, x) {
    if (!isLine(series)) return series.x.indexOf(x);
    const index = nearest(series.x, x);
    // Executions have places of their own: one within a step is the same to a reader.
    const step = series.x.length > 1 ? series.x[1] - series.x[0] : 0;
    return Math.abs(series.x[index] - x) <= step ? index : -1;
  }

  /** The unit of an axis's label: `service time, ms` is of milliseconds. */
  const unitOf = ({ label }) => label.split(', ').at(-1);

  function valueOf(series, x, { least, label }) {
    const index = placeOf(series, x);
    const [y, low, high] = ['y', 'low', 'high'].map((name) => series[name][index] ?? null);
    if (y === null) return '';
    const hasInterval = low !== null && high !== null;
    const interval = hasInterval ? ` (${numbered(low)} to ${numbered(high)})` : '';
    const count = series.n.length > 0 ? ` (n ${series.n[index].toLocaleString('en')})` : '';
    const value = least !== null && y < least ? `below ${numbered(least)}` : numbered(y);
    return `${series.label}: ${value} ${unitOf({ label })}${interval}${count}`;
  }

  /** What a button of the legend hides: a line, or all that has its colour. */
  const keyOf = (series) => (isLine(series) ? series.label : series.colour);

  /** A chart on the page with what belongs to it. */
  class Live {
    constructor(node, chart) {
      Object.assign(this, { node, chart, stops: stopsOf(chart), hidden: new Set(), at: null });
      this.readout = make('p', { class: 'readout', 'aria-live': 'polite' });
      node.before(make('p', { class: 'y-label' }, chart.y.label));
      node.append(this.readout);
      node.after(this.legend());
      node.addEventListener('keydown', (event) => this.press(event));
      this.drawn = null;
      this.redraw();
      new ResizeObserver(() => this.fit()).observe(node);
    }

    legend() {
      const shown = this.chart.series.filter((series) => !isCurve(series));
      const buttons = shown.map((series) => {
        const kind = isLine(series) ? series.draw : 'mark';
        const swatch = make('span', { class: `swatch series-${series.colour} ${kind}` });
        const button = make(
          'button',
          { type: 'button', 'aria-pressed': 'true' },
          swatch,
          series.label,
        );
        button.addEventListener('click', () => this.toggle(keyOf(series), button));
        return button;
      });
      // One alone needs no name, and hiding it would leave nothing.
      const lines = buttons.length > 1 ? buttons : [];
      return make('div', { class: 'legend' }, ...lines, ...this.marks());
    }

    /** What the marks on top of the chart mean, each kind once. */
    marks() {
      const kinds = new Set(this.chart.spans.map(({ kind }) => kind));
      kinds.delete('uncounted');
      const texts = { outage: 'worker missing', reload: 'reload', change: 'another level' };
      return [...kinds].map((kind) =>
        make('span', { class: 'key' }, make('span', { class: `swatch ${kind}` }), texts[kind]),
      );
    }

    toggle(key, button) {
      const hides = !this.hidden.has(key);
      if (hides) this.hidden.add(key);
      else this.hidden.delete(key);
      button.setAttribute('aria-pressed', String(!hides));
      this.hide();
    }

    hide() {
      this.chart.series.forEach((series, index) => {
        const show = !this.hidden.has(keyOf(series));
        if (this.drawn.series[index + 1].show !== show) this.drawn.setSeries(index + 1, { show });
      });
    }

    redraw() {
      this.drawn?.destroy();
      this.drawn = draw(this.node, this.chart);
      this.drawn.hooks.setCursor = [(u) => this.follow(u)];
      this.hide();
    }

    fit() {
      const { clientWidth: width } = this.node;
      if (width !== this.drawn.width) this.drawn.setSize({ width, height: this.drawn.height });
    }

    follow(u) {
      if (u.cursor.left < 0 || u.cursor.idx === null) return;
      this.at = nearest(this.stops, u.posToVal(u.cursor.left, 'x'));
      this.describe();
      this.place(u);
    }

    /** The readout beside the pointer, on the side that has room; it is seen in one chart alone. */
    place({ cursor, over }) {
      const isLeft = cursor.left > over.clientWidth / 2;
      const [x, y] = [over.offsetLeft + cursor.left, over.offsetTop + Math.max(cursor.top, 0)];
      const below = Math.min(y, Math.max(0, this.node.clientHeight - this.readout.offsetHeight));
      const away = isLeft ? 'calc(-100% - 12px)' : '12px';
      this.readout.style.transform = `translate(${x}px, ${below}px) translateX(${away})`;
    }

    describe() {
      const { x: axis, y, series, spans } = this.chart;
      const x = this.stops[this.at];
      const shown = series.filter((it) => !isCurve(it) && !this.hidden.has(keyOf(it)));
      const values = shown.map((each) => valueOf(each, x, y)).filter(Boolean);
      // What happened between two stops is shown at both.
      const [before, after] = [this.stops[this.at - 1] ?? x, this.stops[this.at + 1] ?? x];
      const here = spans.filter(({ low, high, kind }) =>
        kind === 'uncounted' ? x >= low && x < high : after > low && before < high,
      );
      const at = axis.names[axis.ticks.indexOf(x)] ?? (axis.is_time ? time(x) : numbered(x));
      const head = axis.is_time ? at : `${axis.label}: ${at}`;
      const marks = new Set(here.map(({ label }) => label));
      this.readout.textContent = [head, ...values, ...marks].join('\n');
    }

    press(event) {
      if (event.target !== this.node) return;
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const factor = { '+': 0.5, '-': 2, 0: Infinity }[event.key];
      if (step !== undefined) this.step(step);
      else if (factor !== undefined && this.chart.zoom) this.zoom(factor);
      else return;
      event.preventDefault();
    }

    step(by) {
      const next = this.at === null ? 0 : this.at + by;
      this.at = Math.min(Math.max(next, 0), this.stops.length - 1);
      const left = this.drawn.valToPos(this.stops[this.at], 'x');
      this.drawn.setCursor({ left, top: 0 }, false);
      this.describe();
      this.place(this.drawn);
    }

    /** Zoom to a part of what is in sight, around the cursor; Infinity shows all. */
    zoom(factor) {
      const { min, max } = this.drawn.scales.x;
      const [first, last] = [this.stops[0], this.stops.at(-1)];
      const half = ((max - min) / 2) * factor;
      const middle = this.at === null ? (min + max) / 2 : this.stops[this.at];
      const range = { min: Math.max(middle - half, first), max: Math.min(middle + half, last) };
      const alike = live.filter(
        (it) => it === this || (it.chart.sync && it.chart.sync === this.chart.sync),
      );
      for (const each of alike) each.drawn.setScale('x', range);
    }
  }

  const live = [];
  for (const node of document.querySelectorAll('[data-chart]')) {
    live.push(new Live(node, charts[Number(node.dataset.chart)]));
  }
  performance.mark('charts drawn');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const each of live) each.redraw();
  });
}
