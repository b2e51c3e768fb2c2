'use strict';

// Books on Hono, whose routes are described by zod.

const { serve } = require('@hono/node-server');
const { OpenAPIHono, createRoute, z } = require('@hono/zod-openapi');
const { randomUUID } = require('node:crypto');

const Genre = z.enum(['novel', 'poems', 'science']);
const NewBook = z
  .object({
    title: z.string().min(1).max(80),
    isbn: z.string().regex(/^97[89]-\d{10}$/),
    genre: Genre,
    price: z.number().positive().multipleOf(0.01),
    published: z.iso.date(),
    publisher: z.object({ name: z.string(), url: z.url() }).nullable(),
    pages: z.union([z.literal('unknown'), z.number().int().min(1)]),
    tags: z.array(z.string().min(2)).max(5).default([]),
  })
  .openapi('NewBook');
const Book = NewBook.extend({ id: z.uuid(), addedAt: z.iso.datetime() }).openapi('Book');
const Missing = z.object({ message: z.string() }).openapi('Missing');
const params = z.object({ id: z.uuid() });

const books = new Map();
const add = (it) => {
  const book = { id: randomUUID(), addedAt: new Date().toISOString(), ...it };
  books.set(book.id, book);
  return book;
};
for (let number = 0; number < 3; number += 1) {
  add({
    ...{ title: `Book ${number}`, isbn: '978-3123456789', genre: 'novel', price: 9.5, tags: [] },
    ...{ published: '2020-05-05', publisher: null, pages: 120 },
  });
}

const json = (schema, description = 'fine') => ({
  content: { 'application/json': { schema } },
  description,
});
const body = (schema) => ({ ...json(schema), required: true });
const missing = { 404: json(Missing, 'no such book') };
const app = new OpenAPIHono();

function route(method, path, request, responses, handle) {
  app.openapi(createRoute({ method, path, request, responses }), (context) => {
    const id = context.req.param('id');
    if (id && !books.has(id)) return context.json({ message: 'no such book' }, 404);
    return handle(context, id && books.get(id));
  });
}

const query = z.object({
  genre: z.union([Genre, z.array(Genre)]).optional(),
  limit: z.coerce.number().int().min(1).max(50).default(20),
  since: z.iso.date().optional(),
  order: z.string().regex(/^(title|price):(asc|desc)$/),
});
route('get', '/books', { query }, { 200: json(z.array(Book)) }, (context) =>
  context.json([...books.values()].slice(0, context.req.valid('query').limit)),
);
route('post', '/books', { body: body(NewBook) }, { 201: json(Book) }, (context) =>
  context.json(add(context.req.valid('json')), 201),
);
route('get', '/books/{id}', { params }, { 200: json(Book), ...missing }, (context, book) =>
  context.json(book),
);
route(
  'put',
  '/books/{id}',
  { params, body: body(NewBook) },
  { 200: json(Book), ...missing },
  (context, book) => context.json(Object.assign(book, context.req.valid('json'))),
);
const changes = body(NewBook.partial());
route(
  'patch',
  '/books/{id}',
  { params, body: changes },
  { 200: json(Book), ...missing },
  (context, book) => context.json(Object.assign(book, context.req.valid('json'))),
);
route(
  'delete',
  '/books/{id}',
  { params },
  { 204: { description: 'gone' }, ...missing },
  (context, book) => {
    books.delete(book.id);
    return context.body(null, 204);
  },
);
const shelf = z.object({ shelf: z.string().regex(/^[A-F][1-9]\d?$/) });
route('get', '/shelves/{shelf}', { params: shelf }, { 200: json(shelf) }, (context) =>
  context.json(context.req.valid('param')),
);
const header = { headers: z.object({ 'x-tenant': z.string().length(6) }) };
route('get', '/loans', header, { 200: json(z.object({ loans: z.number() })) }, (context) =>
  context.json({ loans: 0 }),
);

app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Books', version: '1' } });
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
