'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { badRequest, serve } = require('./support/app');

const GOOD = { origin: 'PAR', destination: 'LYS', date: '2026-03-14' };
const TICKET_KEYS = [
  ...['carrier', 'train', 'origin', 'destination', 'departure', 'arrival'],
  ...['durationMinutes', 'priceCents', 'currency', 'class'],
];

function path(query) {
  return `/search?${new URLSearchParams(query)}`;
}

function assertTicket(ticket, { origin, destination, date }) {
  assert.deepEqual(Object.keys(ticket), TICKET_KEYS);
  assert.match(ticket.train, /^[A-Z]{2}\d{4}$/);
  assert.deepEqual([ticket.origin, ticket.destination], [origin, destination]);
  assert.match(ticket.departure, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/);
  assert.match(ticket.arrival, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/);
  assert.ok(ticket.departure.startsWith(`${date}T`) && ticket.arrival.startsWith(`${date}T`));
  const minutes = (Date.parse(`${ticket.arrival}Z`) - Date.parse(`${ticket.departure}Z`)) / 60_000;
  assert.equal(ticket.durationMinutes, minutes);
  assert.ok(minutes > 0);
  assert.ok(Number.isInteger(ticket.priceCents) && ticket.priceCents > 0);
  assert.equal(ticket.currency, 'EUR');
  assert.ok(['first', 'second'].includes(ticket.class));
}

test('every carrier gives tickets in the universal model', async (t) => {
  const get = await serve(t);
  const response = await get(path(GOOD));
  assert.equal(response.status, 200);
  const { query, tickets, warnings } = await response.json();
  assert.deepEqual(query, GOOD);
  assert.deepEqual(warnings, []);
  for (const ticket of tickets) assertTicket(ticket, GOOD);
  const carriers = new Set(tickets.map(({ carrier }) => carrier));
  assert.deepEqual([...carriers].sort(), ['Aurora', 'Borealis', 'Cirrus']);
});

test('tickets are sorted by departure, price, carrier and train, without ties', async (t) => {
  const get = await serve(t, { USE_RANDOM_DELAY: 'true' });
  const key = ({ departure, priceCents, carrier, train }) =>
    [departure, String(priceCents).padStart(9, '0'), carrier, train].join(' ');
  for (let day = 10; day < 25; day += 1) {
    const { tickets } = await (await get(path({ ...GOOD, date: `2026-05-${day}` }))).json();
    const keys = tickets.map(key);
    assert.deepEqual(keys, [...keys].sort());
    assert.equal(new Set(keys).size, keys.length);
  }
});

test('the same query has the same answer, whatever the delay; another one has another', async (t) => {
  const get = await serve(t);
  const delayed = await serve(t, { USE_RANDOM_DELAY: 'true' });
  const first = await (await get(path(GOOD))).text();
  assert.equal(await (await get(path(GOOD))).text(), first);
  assert.equal(await (await delayed(path(GOOD))).text(), first);
  const answers = new Set([first]);
  for (const change of [{ origin: 'LIL' }, { destination: 'NCE' }, { date: '2026-03-15' }]) {
    const { tickets } = await (await get(path({ ...GOOD, ...change }))).json();
    answers.add(JSON.stringify(tickets.map(({ priceCents }) => priceCents)));
  }
  assert.equal(answers.size, 4);
});

test('an answer is the same on every machine and in every version', async (t) => {
  const get = await serve(t);
  const { tickets } = await (await get(path(GOOD))).json();
  assert.deepEqual(tickets[0], {
    carrier: 'Cirrus',
    train: 'CI1032',
    origin: 'PAR',
    destination: 'LYS',
    departure: '2026-03-14T05:05',
    arrival: '2026-03-14T06:35',
    durationMinutes: 90,
    priceCents: 8304,
    currency: 'EUR',
    class: 'second',
  });
});

test('the carriers answer in three different shapes', () => {
  const shapes = ['aurora', 'borealis', 'cirrus'].map((name) =>
    require(`../../app/targets/search/carriers/${name}`).answer(GOOD),
  );
  assert.match(JSON.parse(shapes[0]).result.offers[0].fare.amount, /^\d+\.\d{2}$/);
  assert.match(shapes[1].split('\r\n')[1], /^BO\d{4};PAR;LYS;14\.03\.2026;.*;\d+,\d{2} EUR$/);
  assert.ok(Array.isArray(shapes[2].columns.cents));
});

test('an answer of Borealis that was cut short is noticed', () => {
  const { answer, toTickets } = require('../../app/targets/search/carriers/borealis');
  const lines = answer(GOOD).split('\r\n');
  assert.throws(() => toTickets(lines.slice(0, -1).join('\r\n')), /cut short/);
});

for (const date of ['2024-02-29', '2026-12-31', '0000-01-01', '9999-12-31']) {
  test(`${date} is a calendar date`, async (t) => {
    const get = await serve(t);
    const query = { ...GOOD, date };
    const response = await get(path(query));
    assert.equal(response.status, 200);
    for (const ticket of (await response.json()).tickets) assertTicket(ticket, query);
  });
}

const WITHOUT_ORIGIN = { destination: GOOD.destination, date: GOOD.date };
for (const [parameter, value, query] of [
  ['origin', null, WITHOUT_ORIGIN],
  ['origin', '', { ...GOOD, origin: '' }],
  ['origin', 'par', { ...GOOD, origin: 'par' }],
  ['origin', 'PARI', { ...GOOD, origin: 'PARI' }],
  ['origin', 'PAR\n', { ...GOOD, origin: 'PAR\n' }],
  ['origin', 'PÄR', { ...GOOD, origin: 'PÄR' }],
  ['destination', '123', { ...GOOD, destination: '123' }],
  ['destination', 'PAR', { ...GOOD, destination: 'PAR' }],
  ['date', '2026-02-30', { ...GOOD, date: '2026-02-30' }],
  ['date', '2025-02-29', { ...GOOD, date: '2025-02-29' }],
  ['date', '2026-13-01', { ...GOOD, date: '2026-13-01' }],
  ['date', '2026-00-10', { ...GOOD, date: '2026-00-10' }],
  ['date', '2026-3-14', { ...GOOD, date: '2026-3-14' }],
  ['date', '2026-03-14T10:00', { ...GOOD, date: '2026-03-14T10:00' }],
  ['date', 'tomorrow', { ...GOOD, date: 'tomorrow' }],
  ['date', ['2026-03-14', '2026-03-15'], [...Object.entries(GOOD), ['date', '2026-03-15']]],
  ['origin', ['PAR', 'PAR'], [...Object.entries(GOOD), ['origin', 'PAR']]],
  ['origin', null, { ...WITHOUT_ORIGIN, 'origin[a]': 'PAR' }],
]) {
  test(`${parameter} ${JSON.stringify(value)} is a bad request: ${path(query)}`, async (t) => {
    const error = await badRequest(t, path(query));
    assert.equal(error.parameter, parameter);
    assert.deepEqual(error.value, value);
    assert.equal(typeof error.allowed, 'string');
  });
}
