'use strict';

/**
 * Fewer colours for a picture of a screen: those that are seen most, each standing for its
 * neighbourhood, so that what is rare but unlike the others keeps its colour.
 */

const MOST = 256;
/** Bits a channel by which colours are neighbours. */
const NEAR = 4;

function counts(pixels) {
  const found = new Map();
  for (const colour of pixels) found.set(colour, (found.get(colour) ?? 0) + 1);
  return found;
}

function neighbourhood(colour) {
  const drop = 8 - NEAR;
  const parts = [colour >> 16, (colour >> 8) & 255, colour & 255].map((it) => it >> drop);
  return (parts[0] << (2 * NEAR)) | (parts[1] << NEAR) | parts[2];
}

/** The most frequent colour of each neighbourhood, then what is most frequent of the others. */
function chosen(found) {
  const ordered = [...found].sort(([a, many], [b, more]) => more - many || a - b);
  if (ordered.length <= MOST) return ordered.map(([colour]) => colour);
  const first = new Map();
  for (const [colour] of ordered) {
    const near = neighbourhood(colour);
    if (!first.has(near)) first.set(near, colour);
  }
  const palette = [...first.values()].slice(0, MOST);
  const rest = ordered.map(([colour]) => colour).filter((colour) => !palette.includes(colour));
  return [...palette, ...rest.slice(0, MOST - palette.length)];
}

function distance(a, b) {
  const parts = [16, 8, 0].map((bits) => ((a >> bits) & 255) - ((b >> bits) & 255));
  return parts.reduce((sum, part) => sum + part * part, 0);
}

function nearest(palette, colour) {
  let best = 0;
  for (let at = 1; at < palette.length; at++) {
    if (distance(palette[at], colour) < distance(palette[best], colour)) best = at;
  }
  return best;
}

/** { width, height, palette, indices } of { width, height, pixels }, see png.js. */
function reduce({ width, height, pixels }) {
  const found = counts(pixels);
  const palette = chosen(found);
  const place = new Map(palette.map((colour, at) => [colour, at]));
  for (const colour of found.keys()) {
    if (!place.has(colour)) place.set(colour, nearest(palette, colour));
  }
  return { width, height, palette, indices: Uint8Array.from(pixels, (it) => place.get(it)) };
}

module.exports = { counts, reduce };
