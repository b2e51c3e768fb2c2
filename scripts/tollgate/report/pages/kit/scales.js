'use strict';

/** What the axes of a chart of the page's data reach over, and what is written along them. */
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
    const text = parts.map((part, at) => (at ? String(part).padStart(2, '0') : part)).join(':');
    return seconds < 0 && whole > 0 ? `-${text}` : text;
  }

  /** Pixels that the numbers along the x axis need from one to the next. */
  const ROOM = 26;
  /** The same where they have names. */
  const ROOM_FOR_NAMES = 36;
  const FONT = '12px system-ui, sans-serif';

  const formatted = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  const numbered = (value) =>
    value >= 1000 ? Math.round(value).toLocaleString('en') : formatted.format(value);

  const known = (values) => values.filter((value) => value !== null);
  const isCurve = (series) => series.draw === 'curve';
  const LINES = new Set(['line', 'dashed', 'dotted', 'dot-dashed']);
  const isLine = (series) => LINES.has(series.draw);
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

  function rangeOfX({ series, x }) {
    const values = series.flatMap((each) => known(each.x));
    const [low, high] = [x.low ?? least(values), x.high ?? most(values)];
    const edge = (high - low) / 40;
    return x.log ? [low / 1.25, high * 1.15] : [x.low ?? low - edge, x.high ?? high + edge];
  }

  /** All of x, or the part of it that was asked for. */
  function partOfX(whole) {
    return (u, low, high) => {
      const isPart = low > u.data[0][0] || high < u.data[0].at(-1);
      return isPart ? [Math.max(low, whole[0]), Math.min(high, whole[1])] : whole;
    };
  }

  function rangeOfY({ series, levels, limit, y }) {
    const ends = known(series.flatMap((each) => [...each.y, ...each.high]));
    const high = Math.max(y.high ?? most([...ends, ...levels]), limit ?? -Infinity);
    if (y.log) return [y.low ?? least(ends) / 1.15, high * 1.25];
    return [y.low ?? 0, high > 0 ? high * 1.08 : 1];
  }

  /** Of lines the highest that is in sight fills the chart, so that zooming in shows detail. */
  function rangeInSight(chart, whole) {
    if (!chart.series.some(isLine) || chart.y.log) return () => whole;
    return (u, low, high) => {
      // The scale of x is still the one before; which values are in sight is known already.
      const [first, last] = u.series[0].idxs ?? [0, Infinity];
      const isZoomed = first > 0 || last < u.data[0].length - 1;
      if (!isZoomed) return whole;
      const top = Math.max(high ?? 0, chart.limit ?? 0);
      return [whole[0], top > 0 ? top * 1.08 : 1];
    };
  }

  /** The ticks that leave each other room, from the left. */
  function roomy(u, ticks, room) {
    let last = -Infinity;
    return ticks.map((tick) => {
      const at = u.valToPos(tick, 'x');
      if (at - last < room) return null;
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
    const named = (u, splits) => splits.map((value) => x.names[x.ticks.indexOf(value)] ?? '');
    const across = { ...usual, label: x.label, labelFont: FONT, labelSize: 22, size: 28, values };
    if (x.ticks.length > 0) {
      const within = (u) => x.ticks.filter((tick) => tick <= u.scales.x.max);
      across.splits = within;
      const room = x.names.length > 0 ? ROOM_FOR_NAMES : ROOM;
      across.filter = (u, splits) => roomy(u, splits, room);
    }
    if (x.names.length > 0) across.values = named;
    if (x.is_time) {
      across.incrs = INCREMENTS;
      across.space = 64;
      across.values = (u, splits) => splits.map((value) => time(value));
    }
    const widest = numbered(y.high ?? 0).length;
    const up = { ...usual, size: Math.max(52, 16 + 8 * widest), values };
    if (y.log) up.splits = (u) => decades(u.scales.y);
    return [across, up];
  }

  /** 1, 2, 5, 10, 20, ... from one end to the other; powers of ten alone where there are many. */
  function decades({ min, max }) {
    const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
    const steps = last - first > 3 ? [1] : [1, 2, 5];
    const found = [];
    for (let power = first; power <= last; power += 1) {
      found.push(...steps.map((step) => step * 10 ** power));
    }
    return found.filter((value) => value >= min && value <= max);
  }

  globalThis.tollgate = {
    axes,
    isCurve,
    isLine,
    numbered,
    partOfX,
    rangeInSight,
    rangeOfX,
    rangeOfY,
    time,
  };
}
