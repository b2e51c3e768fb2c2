'use strict';

// Rooms of a hotel on Fastify, described by TypeBox.

const fastify = require('fastify');
const { Type } = require('@sinclair/typebox');

const Kind = Type.Union([Type.Literal('single'), Type.Literal('double'), Type.Literal('suite')]);
const Guest = Type.Object({
  name: Type.String({ minLength: 1 }),
  passport: Type.String({ pattern: '^[A-Z]{2}\\d{7}$' }),
});
const NewBooking = Type.Object(
  {
    room: Type.Integer({ minimum: 100, maximum: 499 }),
    from: Type.String({ format: 'date' }),
    nights: Type.Integer({ minimum: 1, multipleOf: 1 }),
    kind: Kind,
    guests: Type.Array(Guest, { minItems: 1, maxItems: 4, uniqueItems: true }),
    deposit: Type.Optional(Type.Number({ exclusiveMinimum: 0, multipleOf: 0.5 })),
    company: Type.Optional(
      Type.Union([Type.Null(), Type.Object({ vat: Type.String({ pattern: '^DE\\d{9}$' }) })]),
    ),
  },
  { additionalProperties: false },
);
const Booking = Type.Composite([Type.Object({ id: Type.Integer() }), NewBooking]);
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) });
const Missing = Type.Object({ message: Type.String() });

const bookings = new Map();
let last = 0;
const book = (it) => {
  last += 1;
  bookings.set(last, { id: last, ...it });
  return bookings.get(last);
};
const guests = [{ name: 'Anna', passport: 'AB1234567' }];
for (const room of [101, 102, 203]) {
  book({ room, from: '2026-03-01', nights: 2, kind: 'double', guests });
}

function routes(app) {
  app.addHook('preHandler', async (request, reply) => {
    if (request.params.id && !bookings.has(request.params.id)) {
      await reply.code(404).send({ message: 'no such booking' });
    }
  });
  const Filters = Type.Object({
    kind: Type.Optional(Type.Array(Kind)),
    from: Type.Optional(Type.String({ format: 'date' })),
    limit: Type.Integer({ minimum: 1, maximum: 50, default: 10 }),
    sort: Type.Optional(Type.String({ pattern: '^-?(from|room)$' })),
  });
  const one = { params: Id, response: { 200: Booking, 404: Missing } };
  app.get(
    '/bookings',
    { schema: { querystring: Filters, response: { 200: Type.Array(Booking) } } },
    (request) => [...bookings.values()].slice(0, request.query.limit),
  );
  app.post(
    '/bookings',
    { schema: { body: NewBooking, response: { 201: Booking } } },
    (request, reply) => reply.code(201).send(book(request.body)),
  );
  app.get('/bookings/:id', { schema: one }, (request) => bookings.get(request.params.id));
  app.put('/bookings/:id', { schema: { ...one, body: NewBooking } }, (request) => {
    bookings.set(request.params.id, { id: request.params.id, ...request.body });
    return bookings.get(request.params.id);
  });
  app.patch('/bookings/:id', { schema: { ...one, body: Type.Partial(NewBooking) } }, (request) =>
    Object.assign(bookings.get(request.params.id), request.body),
  );
  app.delete(
    '/bookings/:id',
    { schema: { params: Id, response: { 204: Type.Null() } } },
    (request, reply) => {
      bookings.delete(request.params.id);
      return reply.code(204).send();
    },
  );
  const Month = Type.Object({ month: Type.String({ pattern: '^20\\d{2}-(0[1-9]|1[0-2])$' }) });
  app.get('/free/:month', { schema: { params: Month } }, (request) => ({
    ...request.params,
    free: 7,
  }));
  const Tenant = Type.Object({ 'x-tenant': Type.String({ format: 'uuid' }) });
  app.get('/rates', { schema: { headers: Tenant } }, () => ({ single: 80 }));
}

async function main() {
  const app = fastify();
  await app.register(require('@fastify/swagger'), {
    openapi: { info: { title: 'Rooms', version: '1' } },
  });
  await app.register(async (scope) => routes(scope));
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
}

main();
