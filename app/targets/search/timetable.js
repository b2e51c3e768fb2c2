'use strict';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * What a carrier sells for a query, before it puts it into a format of its own: the same trains
 * for the same query, on every machine and in every process. They all arrive on the day they leave.
 *
 * @param {string} carrier seeds the trains, as the query does
 * @param {string} prefix begins each train number
 * @param {{ origin: string, destination: string, date: string }} query
 * @returns {{ train: string, leaves: number, minutes: number, cents: number, first: boolean }[]}
 *   `leaves` in minutes after midnight
 */
function timetable(carrier, prefix, { origin, destination, date }) {
  const draw = drawsFrom(hash([carrier, origin, destination, date].join('|')));
  const distance = 45 + draw(150);
  const trains = [];
  for (let count = 4 + draw(5), i = 0; i < count; i += 1) {
    trains.push({
      train: `${prefix}${1000 + 10 * i + draw(10)}`,
      leaves: 5 * 60 + draw(15 * 60),
      minutes: distance + draw(45),
      cents: 900 + distance * 20 + draw(6000),
      first: draw(4) === 0,
    });
  }
  return trains;
}

/** FNV-1a, 32 bits. */
function hash(text) {
  let value = FNV_OFFSET;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, FNV_PRIME);
  return value;
}

/** Mulberry32 with whole numbers only: each call draws one from 0 to below `limit`. */
function drawsFrom(seed) {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

module.exports = { timetable };
