'use strict';

/**
 * Draws one chart of the page's data (see page/charts.py) with uPlot: `tollgate.draw(node, chart)`.
 *
 * uPlot keeps scales, axes, lines and the cursor. Marks with their intervals are drawn here, from the
 * chart's own points, for uPlot would take one y for each x.
 */
{
  const HEIGHT = 260;
  /** Pixels that the numbers along the x axis need from one to the next. */
  const ROOM = 26;
  const MARK = 4;
  const DOT = 2;
  const FONT = '12px system-ui, sans-serif';

  const formatted = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  const numbered = (value) =>
    value >= 1000 ? Math.round(value).toLocaleString('en') : formatted.format(value);

  const known = (values) => values.filter((value) => value !== null);
  const isCloud = (series) => series.draw === 'dots';
  const isCurve = (series) => series.draw === 'curve';

  function colours(node) {
    const css = getComputedStyle(node);
    const of = (name) => css.getPropertyValue(name).trim();
    const palette = [0, 1, 2, 3].map((index) => of(`--series-${index}`));
    return { soft: of('--soft'), rule: of('--rule'), palette };
  }

  function rangeOfX({ series, x }) {
    const values = series.flatMap((each) => known(each.x));
    const [low, high] = [x.low ?? Math.min(...values), x.high ?? Math.max(...values)];
    const edge = (high - low) / 40;
    return x.log ? [low / 1.25, high * 1.15] : [x.low ?? low - edge, high + edge];
  }

  function rangeOfY({ series, levels, y }) {
    const ends = series.flatMap((each) => [...each.y, ...each.high]);
    const high = Math.max(...known(ends), ...levels);
    return [y.low ?? 0, y.high ?? (high > 0 ? high * 1.08 : 1)];
  }

  /** The ticks that leave each other room, from the left. */
  function roomy(u, ticks) {
    let last = -Infinity;
    return ticks.map((tick) => {
      const at = u.valToPos(tick, 'x');
      if (at - last < ROOM) return null;
      last = at;
      return tick;
    });
  }

  function axes({ x, y }, { soft, rule }) {
    const usual = {
      stroke: soft,
      font: FONT,
      grid: { stroke: rule, width: 1 },
      ticks: { show: false },
    };
    const values = (u, splits) => splits.map((value) => (value === null ? '' : numbered(value)));
    const across = { ...usual, label: x.label, labelFont: FONT, labelSize: 22, size: 28, values };
    if (x.ticks.length > 0) {
      const within = (u) => x.ticks.filter((tick) => tick <= u.scales.x.max);
      across.splits = within;
      across.filter = (u, splits) => roomy(u, splits);
    }
    const widest = numbered(y.high ?? 0).length;
    return [across, { ...usual, size: Math.max(52, 16 + 8 * widest), values }];
  }

  const SHAPES = [
    (ctx, x, y, r) => ctx.arc(x, y, r, 0, 2 * Math.PI),
    (ctx, x, y, r) => ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
    (ctx, x, y, r) =>
      polygon(ctx, [x, y - r * 1.2], [x + r * 1.1, y + r * 0.8], [x - r * 1.1, y + r * 0.8]),
    (ctx, x, y, r) =>
      polygon(ctx, [x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y]),
  ];

  function polygon(ctx, ...corners) {
    corners.forEach(([x, y], index) => (index ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.closePath();
  }

  function drawInterval(u, series, index, x) {
    const [low, high] = [series.low[index] ?? null, series.high[index] ?? null];
    if (low === null || high === null) return;
    const ends = [low, high].map((value) => u.valToPos(value, 'y', true));
    const cap = 3 * uPlot.pxRatio;
    u.ctx.moveTo(x, ends[0]);
    u.ctx.lineTo(x, ends[1]);
    for (const y of ends) {
      u.ctx.moveTo(x - cap, y);
      u.ctx.lineTo(x + cap, y);
    }
  }

  function drawMarks(u, series, colour) {
    const { ctx } = u;
    const radius = (isCloud(series) ? DOT : MARK) * uPlot.pxRatio;
    const shape = SHAPES[isCloud(series) ? 0 : series.colour];
    Object.assign(ctx, { fillStyle: colour, strokeStyle: colour, lineWidth: 1.5 * uPlot.pxRatio });
    ctx.globalAlpha = isCloud(series) ? 0.6 : 1;
    series.x.forEach((value, index) => {
      if (series.y[index] === null) return;
      const [x, y] = [u.valToPos(value, 'x', true), u.valToPos(series.y[index], 'y', true)];
      ctx.beginPath();
      drawInterval(u, series, index, x);
      ctx.stroke();
      ctx.beginPath();
      shape(ctx, x, y, radius);
      ctx.fill();
    });
  }

  function drawLevel(u, level, { soft }) {
    const { ctx, bbox } = u;
    const y = u.valToPos(level, 'y', true);
    Object.assign(ctx, { strokeStyle: soft, lineWidth: 1.5 * uPlot.pxRatio });
    ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }

  function drawOver(u, chart, theme) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    chart.series.forEach((series, index) => {
      const shown = u.series[index + 1].show && !isCurve(series);
      if (shown) drawMarks(u, series, theme.palette[series.colour]);
    });
    for (const level of chart.levels) drawLevel(u, level, theme);
    ctx.restore();
  }

  function lineOf(series, theme) {
    const hasLine = isCurve(series) || series.draw === 'joined';
    const made = { label: series.label, stroke: theme.palette[series.colour], width: 1.75 };
    return {
      ...made,
      points: { show: false },
      spanGaps: true,
      dash: isCurve(series) ? [7, 4] : undefined,
      ...(hasLine ? {} : { paths: () => null }),
    };
  }

  function options(chart, theme, width) {
    const [x, y] = [rangeOfX(chart), rangeOfY(chart)];
    const high = { ...chart, y: { ...chart.y, high: y[1] } };
    return {
      width,
      height: HEIGHT,
      padding: [12, 14, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: chart.zoom, y: false } },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, log: 2, range: () => x },
        y: { range: () => y },
      },
      axes: axes(high, theme),
      series: [{}, ...chart.series.map((series) => lineOf(series, theme))],
      hooks: { draw: [(u) => drawOver(u, chart, theme)] },
    };
  }

  function draw(node, chart) {
    const data = uPlot.join(chart.series.map((series) => [series.x, series.y]));
    return new uPlot(options(chart, colours(node), node.clientWidth), data, node);
  }

  globalThis.tollgate = { draw, isCurve, numbered };
}
