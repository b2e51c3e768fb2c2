'use strict';

/**
 * Makes the page's charts live: legend, cursor by mouse and by the arrow keys, and a new drawing when
 * the width or the colour scheme changes.
 */
{
  const { draw, isCurve, numbered } = globalThis.tollgate;
  const charts = JSON.parse(document.getElementById('charts').textContent);

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

  function told(series, x) {
    const index = series.x.indexOf(x);
    const y = series.y[index] ?? null;
    if (y === null) return '';
    const [low, high] = [series.low[index] ?? null, series.high[index] ?? null];
    const interval =
      low === null || high === null ? '' : ` (${numbered(low)} to ${numbered(high)})`;
    return `${series.label} ${numbered(y)}${interval}`;
  }

  /** A chart on the page with what belongs to it. */
  class Live {
    constructor(node, chart) {
      Object.assign(this, { node, chart, stops: stopsOf(chart), hidden: new Set(), at: null });
      this.readout = make('p', { class: 'readout', 'aria-live': 'polite' });
      node.before(make('p', { class: 'y-label' }, chart.y.label));
      node.after(this.legend(), this.readout);
      node.addEventListener('keydown', (event) => this.press(event));
      this.drawn = null;
      this.redraw();
      new ResizeObserver(() => this.fit()).observe(node);
    }

    legend() {
      const shown = this.chart.series.filter((series) => !isCurve(series));
      const buttons = shown.map((series) => {
        const swatch = make('span', { class: `swatch swatch-${series.colour}` });
        const button = make(
          'button',
          { type: 'button', 'aria-pressed': 'true' },
          swatch,
          series.label,
        );
        button.addEventListener('click', () => this.toggle(series.colour, button));
        return button;
      });
      // One alone needs no name, and hiding it would leave nothing.
      return make('div', { class: 'legend' }, ...(buttons.length > 1 ? buttons : []));
    }

    toggle(colour, button) {
      const hides = !this.hidden.has(colour);
      if (hides) this.hidden.add(colour);
      else this.hidden.delete(colour);
      button.setAttribute('aria-pressed', String(!hides));
      this.hide();
    }

    hide() {
      this.chart.series.forEach((series, index) => {
        this.drawn.setSeries(index + 1, { show: !this.hidden.has(series.colour) });
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
      const x = u.posToVal(u.cursor.left, 'x');
      const away = this.stops.map((stop) => Math.abs(u.valToPos(stop, 'x') - u.valToPos(x, 'x')));
      this.at = away.indexOf(Math.min(...away));
      this.tell();
    }

    tell() {
      const x = this.stops[this.at];
      const shown = this.chart.series.filter((it) => !isCurve(it) && !this.hidden.has(it.colour));
      const values = shown.map((series) => told(series, x)).filter(Boolean);
      this.readout.textContent = `${this.chart.x.label} ${numbered(x)}: ${values.join(', ')}`;
    }

    press(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined || event.target !== this.node) return;
      event.preventDefault();
      const next = this.at === null ? 0 : this.at + step;
      this.at = Math.min(Math.max(next, 0), this.stops.length - 1);
      const left = this.drawn.valToPos(this.stops[this.at], 'x');
      this.drawn.setCursor({ left, top: 0 }, false);
      this.tell();
    }
  }

  const live = [...document.querySelectorAll('[data-chart]')].map(
    (node) => new Live(node, charts[Number(node.dataset.chart)]),
  );
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const each of live) each.redraw();
  });
}
