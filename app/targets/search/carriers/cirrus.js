'use strict';

const { timetable } = require('../timetable');
const { toMinutes, toTime } = require('../tickets');

const name = 'Cirrus';

/** Answers in columns: one array a field, minutes since 1970, whole cents. */
function answer(query) {
  const midnight = toMinutes(`${query.date}T00:00`);
  const trains = timetable(name, 'CI', query);
  return {
    relation: [query.origin, query.destination],
    rows: trains.length,
    columns: {
      number: trains.map(({ train }) => Number(train.slice(2))),
      departureMinute: trains.map(({ leaves }) => midnight + leaves),
      travelMinutes: trains.map(({ minutes }) => minutes),
      cents: trains.map(({ cents }) => cents),
      firstClass: trains.map(({ first }) => Number(first)),
    },
  };
}

function toTickets({ relation: [origin, destination], rows, columns }) {
  const { number, departureMinute, travelMinutes, cents, firstClass } = columns;
  return Array.from({ length: rows }, (_, i) => ({
    carrier: name,
    train: `CI${number[i]}`,
    origin,
    destination,
    departure: toTime(departureMinute[i]),
    arrival: toTime(departureMinute[i] + travelMinutes[i]),
    durationMinutes: travelMinutes[i],
    priceCents: cents[i],
    currency: 'EUR',
    class: firstClass[i] ? 'first' : 'second',
  }));
}

module.exports = { name, answer, toTickets };
