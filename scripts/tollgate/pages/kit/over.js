'use strict';

/**
 * What lies over or under the lines of a chart: spans of time with their words, and a limit; and how
 * times are told along an axis.
 */
{
  /** Seconds between two numbers on an axis of time. */
  const INCREMENTS = [1, 2, 5, 10, 15, 30].flatMap((it) => [it, it * 60]);
  INCREMENTS.push(...[1, 2, 3, 6, 12, 24, 48, 96].map((hours) => hours * 3600));
  INCREMENTS.sort((a, b) => a - b);

  /** `0:45`, `12:00`, `1:30:00`. */
  function time(seconds) {
    const whole = Math.round(Math.abs(seconds));
    const parts = [Math.floor(whole / 60) % 60, whole % 60];
    if (whole >= 3600) parts.unshift(Math.floor(whole / 3600));
    const told = parts.map((part, at) => (at ? String(part).padStart(2, '0') : part)).join(':');
    return seconds < 0 && whole > 0 ? `-${told}` : told;
  }

  function within(u, low, high) {
    const { left, width } = u.bbox;
    const ends = [low, high].map((value) => u.valToPos(value, 'x', true));
    return [Math.max(ends[0], left), Math.min(ends[1], left + width)];
  }

  const FILLS = { uncounted: 'rule', outage: 'bad', reload: 'link', change: 'bad' };

  /** Below the lines: what does not count is shaded, what happened is a line across the chart. */
  function drawSpans(u, { spans }, theme) {
    const { ctx, bbox } = u;
    ctx.save();
    for (const { low, high, kind } of spans) {
      const [from, to] = within(u, low, high);
      if (to < from) continue;
      ctx.fillStyle = theme[FILLS[kind]];
      ctx.globalAlpha = kind === 'uncounted' ? 0.55 : 0.16;
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (kind === 'uncounted') continue;
      ctx.globalAlpha = 0.9;
      ctx.fillRect(from, bbox.top, Math.max(1, uPlot.pxRatio), bbox.height);
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

  globalThis.tollgate = { drawLimit, drawSpans, INCREMENTS, time };
}
