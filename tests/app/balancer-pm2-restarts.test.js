'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { namesOf, start, takenNoteOf } = require('./support/balancer-pm2');
const { until } = require('./support/processes');

test('with all servers stopped it answers 503 and goes on when they are back', async (t) => {
  const { pm2, ask, view } = await start(t, 'pi-1', 'pi-2');
  await takenNoteOf(t, view, [], () => pm2('stop', 'pi-1', 'pi-2'));
  assert.deepEqual((await view()).servers, []);
  assert.equal((await ask('/pi')).status, 503);
  await takenNoteOf(t, view, ['pi-1', 'pi-2'], () => pm2('restart', 'pi-1', 'pi-2'));
  assert.equal((await ask('/pi')).status, 200);
});

test('the balancer itself is reloaded by PM2 without a word in its error log', async (t) => {
  const { pm2, ask, view, home } = await start(t, 'pi-1');
  await ask('/pi');
  await pm2('restart', 'balancer');
  await until(async () => namesOf(await view()).length === 1, 'it is back');
  assert.equal(fs.readFileSync(path.join(home, 'logs', 'balancer-error.log'), 'utf8'), '');
});
