'use strict';

/**
 * Draws one chart of the page's data (see charts.py) with uPlot: `tollgate.draw(node, chart)`.
 *
 * uPlot keeps scales, axes, lines and the cursor. Marks with their intervals are drawn here, from the
 * chart's own points, for uPlot would take one y for each x.
 */
{
  const HEIGHT = 260;
  const MARK = 4;
  const DOT = 2;

  const { axes, isCurve, isLine, partOfX, rangeInSight, rangeOfX, rangeOfY } = globalThis.tollgate;

  const isCloud = (series) => series.draw === 'dots';

  function colours(node) {
    const css = getComputedStyle(node);
    const of = (name) => css.getPropertyValue(name).trim();
    const palette = [0, 1, 2, 3, 4, 5].map((index) => of(`--series-${index}`));
    const named = ['soft', 'rule', 'bad', 'link'].map((name) => [name, of(`--${name}`)]);
    const size = 12 * uPlot.pxRatio;
    return { ...Object.fromEntries(named), palette, font: `${size}px system-ui, sans-serif` };
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
    const cap = 3 * uPlot.pxRatio;
    const [top, bottom] = [u.bbox.top - 2 * cap, u.bbox.top + u.bbox.height + 2 * cap];
    const within = (y) => Math.min(Math.max(y, top), bottom);
    const ends = [low, high].map((value) => within(u.valToPos(value, 'y', true)));
    u.ctx.moveTo(x, ends[0]);
    u.ctx.lineTo(x, ends[1]);
    for (const y of ends) {
      u.ctx.moveTo(x - cap, y);
      u.ctx.lineTo(x + cap, y);
    }
  }

  /** At the edge, an arrow to a value that lies beyond it. */
  function drawArrow({ ctx, bbox }, x, y, radius) {
    const isAbove = y < bbox.top;
    const [tip, back] = isAbove ? [bbox.top, 2 * radius] : [bbox.top + bbox.height, -2 * radius];
    polygon(ctx, [x, tip], [x + radius, tip + back], [x - radius, tip + back]);
  }

  const isBeyond = ({ bbox }, y) => y < bbox.top - 1 || y > bbox.top + bbox.height + 1;

  function drawMarks(u, series, colour) {
    const { ctx } = u;
    const radius = (isCloud(series) ? DOT : MARK) * uPlot.pxRatio;
    const shape = SHAPES[isCloud(series) ? 0 : series.colour % SHAPES.length];
    Object.assign(ctx, { fillStyle: colour, strokeStyle: colour, lineWidth: 1.5 * uPlot.pxRatio });
    ctx.globalAlpha = isCloud(series) ? 0.6 : 1;
    series.x.forEach((value, index) => {
      if (series.y[index] === null) return;
      const [x, y] = [u.valToPos(value, 'x', true), u.valToPos(series.y[index], 'y', true)];
      ctx.beginPath();
      drawInterval(u, series, index, x);
      ctx.stroke();
      ctx.beginPath();
      if (isBeyond(u, y)) drawArrow(u, x, y, radius);
      else shape(ctx, x, y, radius);
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

  function inSight(u, low, high) {
    const { left, width } = u.bbox;
    const ends = [low, high].map((value) => u.valToPos(value, 'x', true));
    return [Math.max(ends[0], left), Math.min(ends[1], left + width)];
  }

  const FILLS = { uncounted: 'rule', outage: 'bad', reload: 'link', change: 'bad' };

  /** Below the lines: what does not count is shaded, what happened is a line with a mark on top. */
  function drawSpans(u, { spans }, theme) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const { low, high, kind } of spans) {
      const [from, to] = inSight(u, low, high);
      if (to < from) continue;
      ctx.fillStyle = theme[FILLS[kind]];
      ctx.globalAlpha = kind === 'uncounted' ? 0.55 : 0.16;
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (kind === 'uncounted') continue;
      ctx.globalAlpha = 0.9;
      ctx.fillRect(from, bbox.top, Math.max(1, uPlot.pxRatio), bbox.height);
      const half = 5 * uPlot.pxRatio;
      ctx.beginPath();
      polygon(ctx, [from - half, bbox.top], [from + half, bbox.top], [from, bbox.top + 1.6 * half]);
      ctx.fill();
    }
    ctx.restore();
  }

  /** A limit, with its name at the end that the values leave free. */
  function drawLimit(u, { limit }, { bad, font }) {
    if (limit === null) return;
    const { ctx, bbox } = u;
    const ratio = uPlot.pxRatio;
    const y = u.valToPos(limit, 'y', true);
    if (y < bbox.top - 1 || y > bbox.top + bbox.height + 1) return;
    ctx.save();
    Object.assign(ctx, { strokeStyle: bad, fillStyle: bad, lineWidth: 1.5 * ratio, font });
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.textAlign = 'right';
    const isHigh = y - bbox.top < 20 * ratio;
    ctx.textBaseline = isHigh ? 'top' : 'bottom';
    ctx.fillText('limit', bbox.left + bbox.width - 4 * ratio, y + (isHigh ? 3 : -3) * ratio);
    ctx.restore();
  }

  function drawOver(u, chart, theme) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    chart.series.forEach((series, index) => {
      const shown = u.series[index + 1].show && !isCurve(series) && !isLine(series);
      if (shown) drawMarks(u, series, theme.palette[series.colour]);
    });
    for (const level of chart.levels) drawLevel(u, level, theme);
    ctx.restore();
    drawLimit(u, chart, theme);
  }

  const DASHES = {
    curve: [7, 4],
    dashed: [4, 3],
    dotted: [1.5, 2.5],
    'dot-dashed': [9, 3, 1.5, 3],
  };

  function lineOf(series, theme) {
    const hasLine = isCurve(series) || isLine(series) || series.draw === 'joined';
    return {
      label: series.label,
      stroke: theme.palette[series.colour],
      width: isLine(series) && series.draw !== 'line' ? 1.25 : 1.75,
      // A value that stands alone has no line, and would not be seen.
      points: isLine(series) ? { size: 4, show: true, filter: alone } : { show: false },
      spanGaps: !isLine(series),
      dash: DASHES[series.draw],
      ...(hasLine ? {} : { paths: () => null }),
    };
  }

  /** The places of a line's values with a gap on either side. */
  function alone(u, index) {
    const places = [...u.data[index].keys()].filter((at) => u.data[index][at] !== undefined);
    const isKnown = (at) => Number.isFinite(u.data[index][places[at]]);
    return places.filter((_, at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
  }

  function options(chart, theme, width) {
    const [x, y] = [rangeOfX(chart), rangeOfY(chart)];
    const high = { ...chart, y: { ...chart.y, high: y[1] } };
    return {
      width,
      height: HEIGHT,
      padding: [12, 14, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: chart.zoom, y: false },
        ...(chart.sync ? { sync: { key: chart.sync, scales: ['x', null] } } : {}),
      },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, log: chart.x.base, range: partOfX(x) },
        y: { distr: chart.y.log ? 3 : 1, range: rangeInSight(chart, y) },
      },
      axes: axes(high, theme),
      series: [{}, ...chart.series.map((series) => lineOf(series, theme))],
      hooks: {
        drawAxes: [(u) => drawSpans(u, chart, theme)],
        draw: [(u) => drawOver(u, chart, theme)],
      },
    };
  }

  function draw(node, chart) {
    const data = uPlot.join(chart.series.map((series) => [series.x, series.y]));
    return new uPlot(options(chart, colours(node), node.clientWidth), data, node);
  }

  Object.assign(globalThis.tollgate, { draw });
}
