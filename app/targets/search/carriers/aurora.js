'use strict';

const { timetable } = require('../timetable');
const { toMinutes, toTime } = require('../tickets');

const name = 'Aurora';

/** Answers in nested JSON: ISO times with seconds, euros as decimal strings. */
function answer(query) {
  const midnight = toMinutes(`${query.date}T00:00`);
  const offers = timetable(name, 'AU', query).map(({ train, leaves, minutes, cents, first }) => ({
    service: { number: train, cabin: first ? 'FIRST' : 'SECOND' },
    stops: [
      { station: { code: query.origin }, departs: `${toTime(midnight + leaves)}:00` },
      {
        station: { code: query.destination },
        arrives: `${toTime(midnight + leaves + minutes)}:00`,
      },
    ],
    fare: { amount: (cents / 100).toFixed(2), currency: 'EUR' },
  }));
  return JSON.stringify({ result: { offers } });
}

function toTickets(raw) {
  return JSON.parse(raw).result.offers.map(({ service, stops: [from, to], fare }) => ({
    carrier: name,
    train: service.number,
    origin: from.station.code,
    destination: to.station.code,
    departure: from.departs.slice(0, 16),
    arrival: to.arrives.slice(0, 16),
    durationMinutes: (Date.parse(`${to.arrives}Z`) - Date.parse(`${from.departs}Z`)) / 60_000,
    priceCents: Math.round(Number(fare.amount) * 100),
    currency: fare.currency,
    class: service.cabin.toLowerCase(),
  }));
}

module.exports = { name, answer, toTickets };
