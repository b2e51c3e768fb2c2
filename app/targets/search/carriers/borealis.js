'use strict';

const { timetable } = require('../timetable');
const { toMinutes } = require('../tickets');

const name = 'Borealis';
const HEADER = 'train;from;to;date;leaves;arrives;class;price';

/** Answers in lines of text: day.month.year, clock times, decimal commas, a count at the end. */
function answer(query) {
  const day = query.date.split('-').reverse().join('.');
  const lines = timetable(name, 'BO', query).map(({ train, leaves, minutes, cents, first }) =>
    [
      train,
      query.origin,
      query.destination,
      day,
      clock(leaves),
      clock(leaves + minutes),
      first ? '1' : '2',
      `${(cents / 100).toFixed(2).replace('.', ',')} EUR`,
    ].join(';'),
  );
  return [HEADER, ...lines, `END ${lines.length}`].join('\r\n');
}

function clock(minutes) {
  const two = (number) => String(number).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function toTickets(raw) {
  const lines = raw.split('\r\n').slice(1);
  const end = lines.pop();
  if (end !== `END ${lines.length}`) {
    throw new Error(`cut short: ${lines.length} lines, then ${end}`);
  }
  return lines.map(toTicket);
}

function toTicket(line) {
  const [train, origin, destination, day, leaves, arrives, seat, price] = line.split(';');
  const date = day.split('.').reverse().join('-');
  const [departure, arrival] = [`${date}T${leaves}`, `${date}T${arrives}`];
  const [euros, cents] = price.replace(' EUR', '').split(',');
  return {
    carrier: name,
    train,
    origin,
    destination,
    departure,
    arrival,
    durationMinutes: toMinutes(arrival) - toMinutes(departure),
    priceCents: Number(euros) * 100 + Number(cents),
    currency: 'EUR',
    class: seat === '1' ? 'first' : 'second',
  };
}

module.exports = { name, answer, toTickets };
