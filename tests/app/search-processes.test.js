'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { hearErrors, serve } = require('./support/app');
const { childrenOf, endChildren, until, withPatience } = require('./support/processes');

const QUERY = '/search?origin=PAR&destination=LYS&date=2026-03-14';
const STATIONS = ['PAR', 'LYS', 'NCE', 'LIL', 'BER', 'MUC', 'ROM', 'BCN'];
const MODES = {
  'in process': {},
  'in child processes': { USE_CHILD_PROCESSES: 'true' },
  'in a child process per carrier': { USE_CHILD_PROCESSES: 'per-carrier' },
};

// No carrier is too slow, however busy the machine is.
const AN_HOUR_MS = 3_600_000;
const PATIENT = { search: { timeLimitMs: AN_HOUR_MS } };

const real = (name) => require.resolve(`../../app/targets/search/carriers/${name}`);
const odd = (name) => require.resolve(`./carriers/${name}`);

function manyQueries() {
  return Array.from({ length: 24 }, (_, i) => {
    const origin = STATIONS[i % STATIONS.length];
    const destination = STATIONS[(i + 1 + (i % 5)) % STATIONS.length];
    const date = `2026-${String(1 + (i % 12)).padStart(2, '0')}-${10 + i / 2}`.slice(0, 10);
    return `/search?origin=${origin}&destination=${destination}&date=${date}`;
  });
}

test('a search has the same answer in process and in child processes of both kinds', async (t) => {
  endChildren(t);
  const servers = await Promise.all(Object.values(MODES).map((env) => serve(t, env, PATIENT)));
  for (const query of manyQueries()) {
    const responses = await Promise.all(servers.map((get) => get(query)));
    const [answer, ...others] = await Promise.all(responses.map((each) => each.json()));
    assert.ok(answer.tickets.length > 0 && answer.warnings.length === 0, query);
    assert.equal(others.length, 2);
    for (const other of others) assert.deepEqual(other, answer);
  }
});

for (const [mode, env] of Object.entries(MODES)) {
  const searchWith = async (t, carriers, timeLimitMs = AN_HOUR_MS) => {
    endChildren(t);
    const get = await serve(t, env, { search: { carriers, timeLimitMs } });
    const response = await get(QUERY);
    assert.equal(response.status, 200);
    return response.json();
  };

  for (const name of ['failing', 'garbled']) {
    test(`${mode}, a ${name} carrier costs its own tickets and a warning`, async (t) => {
      const heard = hearErrors(t);
      const whole = await searchWith(t, [real('aurora'), real('cirrus')]);
      const answer = await searchWith(t, [real('aurora'), odd(name), real('cirrus')]);
      assert.deepEqual(answer.tickets, whole.tickets);
      const [title] = [name[0].toUpperCase() + name.slice(1)];
      assert.deepEqual(answer.warnings, [`carrier ${title}: failed`]);
      assert.equal(heard().length, 1);
      assert.match(heard()[0], new RegExp(`^carrier ${title}: .*Error: `));
    });
  }

  test(`${mode}, a carrier that takes too long is given up and the others come back`, async (t) => {
    const whole = await searchWith(t, [real('aurora')]);
    const timersBefore = timers();
    let kept = 1; // of `whole`
    await withPatience(300, async (limitMs) => {
      kept += 2;
      const answer = await searchWith(t, [odd('slow'), real('aurora')], limitMs);
      assert.deepEqual(answer.tickets, whole.tickets);
      assert.deepEqual(answer.warnings, [`carrier Slow: no answer within ${limitMs} ms`]);
    });
    if (env.USE_CHILD_PROCESSES !== 'per-carrier') kept = 0;
    await until(() => childrenOf(process.pid).length === kept, `${kept} children are left`);
    assert.equal(timers(), timersBefore);
  });

  test(`${mode}, all carriers may fail`, async (t) => {
    hearErrors(t);
    const answer = await searchWith(t, [odd('failing'), odd('slow'), odd('garbled')], 200);
    assert.deepEqual(answer.tickets, []);
    assert.deepEqual(answer.warnings, [
      'carrier Failing: failed',
      'carrier Slow: no answer within 200 ms',
      'carrier Garbled: failed',
    ]);
  });
}

function timers() {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

test('by default a carrier may take one second', async (t) => {
  const get = await serve(t, {}, { search: { carriers: [odd('slow')] } });
  const { warnings } = await (await get(QUERY)).json();
  assert.deepEqual(warnings, ['carrier Slow: no answer within 1000 ms']);
});

/** The answer to a search of these carriers, each of which has a child process for it. */
async function searchInChildren(t, carriers, timeLimitMs) {
  const get = await serve(t, MODES['in child processes'], { search: { carriers, timeLimitMs } });
  return (await get(QUERY)).json();
}

test('a child process that dies costs its own tickets and a warning', async (t) => {
  const carriers = [real('aurora'), odd('dying')];
  const { tickets, warnings } = await searchInChildren(t, carriers, AN_HOUR_MS);
  assert.ok(tickets.length > 0 && tickets.every(({ carrier }) => carrier === 'Aurora'));
  assert.deepEqual(warnings, ['carrier Dying: its process ended with code 7']);
});

test('a child process that hangs is killed', async (t) => {
  await withPatience(300, async (timeLimitMs) => {
    const carriers = [odd('hanging'), real('cirrus')];
    const { tickets, warnings } = await searchInChildren(t, carriers, timeLimitMs);
    assert.ok(tickets.length > 0);
    assert.deepEqual(warnings, [`carrier Hanging: no answer within ${timeLimitMs} ms`]);
  });
  await until(() => childrenOf(process.pid).length === 0, 'no child is left');
});

test('searches in child processes leave none behind', async (t) => {
  const get = await serve(t, MODES['in child processes']);
  await Promise.all([get(QUERY), get(QUERY), get(QUERY)]);
  await until(() => childrenOf(process.pid).length === 0, 'no child is left');
});
