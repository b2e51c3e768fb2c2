'use strict';

/**
 * The universal model that every carrier's answer is transformed into. Times are local to the
 * station and carry no zone.
 *
 * @typedef {object} Ticket
 * @property {string} carrier
 * @property {string} train unique for a carrier and a search
 * @property {string} origin
 * @property {string} destination
 * @property {string} departure YYYY-MM-DDTHH:MM
 * @property {string} arrival YYYY-MM-DDTHH:MM
 * @property {number} durationMinutes
 * @property {number} priceCents
 * @property {'EUR'} currency
 * @property {'first' | 'second'} class
 */

const MINUTE_MS = 60_000;

/** Sorts by departure, price, carrier and train: an order without ties. */
function inOrder(tickets) {
  return [...tickets].sort(
    (a, b) =>
      compare(a.departure, b.departure) ||
      compare(a.priceCents, b.priceCents) ||
      compare(a.carrier, b.carrier) ||
      compare(a.train, b.train),
  );
}

function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** YYYY-MM-DDTHH:MM to minutes since 1970, and back. */
function toMinutes(time) {
  return Date.parse(`${time}Z`) / MINUTE_MS;
}

function toTime(minutes) {
  return new Date(minutes * MINUTE_MS).toISOString().slice(0, 16);
}

module.exports = { inOrder, toMinutes, toTime };
