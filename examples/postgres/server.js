'use strict';

const express = require('express');
const { Pool } = require('pg');

const PAGE = 20;
const TABLE = `
  CREATE TABLE IF NOT EXISTS example_notes
    (id serial PRIMARY KEY, author int NOT NULL, line text NOT NULL);
  CREATE INDEX IF NOT EXISTS example_notes_author ON example_notes (author, id);
  INSERT INTO example_notes (author, line)
    SELECT n % 50, 'note ' || n FROM generate_series(1, 5000) n
    WHERE NOT EXISTS (SELECT FROM example_notes)`;

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = express();
app.use(express.json());

app.get('/healthz', async (_request, response) => {
  await pool.query('SELECT 1');
  response.send('ok');
});

app.get('/notes', async (request, response) => {
  const { rows } = await pool.query(
    'SELECT id, line FROM example_notes WHERE author = $1 ORDER BY id DESC LIMIT $2',
    [request.query.author, PAGE],
  );
  response.json({ notes: rows });
});

app.post('/notes', async (request, response) => {
  const { author, line } = request.body;
  const { rows } = await pool.query(
    'INSERT INTO example_notes (author, line) VALUES ($1, $2) RETURNING id',
    [author, line],
  );
  response.status(201).json(rows[0]);
});

app.get('/notes/:id', async (request, response) => {
  const { rows } = await pool.query('SELECT * FROM example_notes WHERE id = $1', [
    request.params.id,
  ]);
  if (rows.length > 0) response.json(rows[0]);
  else response.status(404).json({ error: 'there is no such note' });
});

pool.query(TABLE).then(() => app.listen(process.env.PORT || 3001));
