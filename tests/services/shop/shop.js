'use strict';

// A shop of somebody else: a catalogue, a login, and a cart that the session of a visitor holds. The
// sessions are this process's own, so that a visitor who comes to another one is refused.

const { randomUUID } = require('node:crypto');
const express = require('express');

const ITEMS = 2_000;
const PAGE = 20;
const WORDS = ['apple', 'basket', 'candle', 'drum', 'easel', 'flute', 'globe', 'hammer', 'inkwell'];

const catalogue = Array.from({ length: ITEMS }, (_, id) => ({
  id,
  name: `${WORDS[id % WORDS.length]} ${id}`,
  price: 100 + ((id * 7_919) % 9_900),
  stock: (id * 31) % 50,
}));
const sessions = new Map();
let refused = 0;

/** The value of a cookie, or undefined. */
function cookie(request, name) {
  const pairs = (request.headers.cookie ?? '').split(/; */).map((it) => it.split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

/** Lets visitors with a session of this process in, and counts the others. */
function signedIn(request, response, next) {
  request.session = sessions.get(cookie(request, 'session'));
  if (request.session) return next();
  refused += 1;
  response.status(401).json({ error: 'log in first' });
}

function item(request, response, next) {
  request.item = catalogue[Number(request.params.id)];
  if (request.item) return next();
  response.status(404).json({ error: `there is no item ${request.params.id}` });
}

const app = express();
app.disable('x-powered-by');
app.use(express.json());

app.get('/healthz', (request, response) => response.json({ status: 'ok' }));

// The whole catalogue in the order of price, of which the visitor sees a page.
app.get('/items', (request, response) => {
  const page = Number(request.query.page ?? 0);
  const sorted = catalogue.toSorted((a, b) => a.price - b.price || a.name.localeCompare(b.name));
  response.json({ page, items: sorted.slice(page * PAGE, (page + 1) * PAGE) });
});

app.get('/items/:id', item, (request, response) => response.json(request.item));

// Whose name holds the words, the cheapest first.
app.get('/search', (request, response) => {
  const words = String(request.query.q ?? '').toLowerCase();
  const found = catalogue.filter((it) => it.name.toLowerCase().includes(words));
  found.sort((a, b) => a.price - b.price);
  response.json({ found: found.length, items: found.slice(0, PAGE) });
});

app.post('/login', (request, response) => {
  if (!request.body?.visitor) return response.status(400).json({ error: 'who are you?' });
  const session = randomUUID();
  sessions.set(session, { visitor: request.body.visitor, cart: [] });
  // A run logs in thousands of visitors; the oldest ones have left.
  if (sessions.size > 5_000) sessions.delete(sessions.keys().next().value);
  response.cookie('session', session, { httpOnly: true });
  response.json({ visitor: request.body.visitor });
});

app.post('/cart/:id', signedIn, item, (request, response) => {
  request.session.cart.push(request.item);
  response.status(201).json({ lines: request.session.cart.length });
});

app.get('/cart', signedIn, (request, response) => {
  const { cart } = request.session;
  response.json({ lines: cart.length, total: cart.reduce((sum, it) => sum + it.price, 0) });
});

app.post('/orders', (request, response) => {
  const ordered = catalogue[Number(request.body?.item)];
  if (!ordered) return response.status(400).json({ error: 'which item?' });
  response.status(201).json({ order: randomUUID(), price: ordered.price });
});

// How many requests came without a session of this process.
app.get('/refused', (request, response) => response.json({ refused }));

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  process.send?.('ready');
});
process.on('SIGINT', () => server.close(() => process.exit(0)));
