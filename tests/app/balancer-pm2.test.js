'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { clientOf, shares, underLoad } = require('./support/balancer');
const { ECOSYSTEM, ownPm2 } = require('./support/pm2');
const { freePort, ROOT, until } = require('./support/processes');

/** Two looks, which are a second apart, are the two seconds that the balancer may take. */
const MOST_LOOKS = 2;

/** PM2 with some pi servers and the balancer. */
async function start(t, ...servers) {
  const own = await ownPm2(t, { PI_POINTS: '100000' });
  const only = (...names) => own.pm2('start', ECOSYSTEM, '--only', names.join(','));
  await only(...servers, 'balancer');
  return { ...own, ...clientOf(t, own.ports.balancer), only };
}

function namesOf({ servers }) {
  return servers.filter(({ status }) => status === 'up').map(({ name }) => name);
}

/** Does something to the servers, and then the balancer knows within as many looks as it may take. */
async function takenNoteOf(t, view, expected, change) {
  await change();
  const begun = Date.now();
  const { looks } = (await view()).discovery;
  const seen = await until(async () => {
    const now = await view();
    return namesOf(now).join() === expected.join() && now;
  }, `${expected.join()} are up`);
  t.diagnostic(`${expected.join()} after ${Date.now() - begun} ms`);
  const most = looks + MOST_LOOKS + 1; // PM2's events make it look more often than every second
  assert.ok(seen.discovery.looks <= most, `${seen.discovery.looks - looks} looks`);
}

test('servers that PM2 starts and stops are taken up and dropped, and no GET is lost', async (t) => {
  const { pm2, ask, view, only, home } = await start(t, 'pi-1', 'pi-2');
  assert.deepEqual(namesOf(await view()), ['pi-1', 'pi-2']);
  assert.equal((await view()).discovery.source, 'pm2');

  const answers = await underLoad(ask, '/pi', 4, async () => {
    await takenNoteOf(t, view, ['pi-1', 'pi-2', 'pi-3'], () => only('pi-3'));
    await takenNoteOf(t, view, ['pi-1', 'pi-3'], () => pm2('stop', 'pi-2'));
    await takenNoteOf(t, view, ['pi-1', 'pi-2', 'pi-3'], () => pm2('restart', 'pi-2'));

    // One that no file of the project names.
    const file = path.join(home, 'more.config.js');
    const env = { PORT: await freePort() };
    const more = { name: 'pi-more', script: path.join('app', 'server.js'), cwd: ROOT, env };
    fs.writeFileSync(file, `module.exports = ${JSON.stringify({ apps: [more] })};`);
    const four = ['pi-1', 'pi-2', 'pi-3', 'pi-more'];
    await takenNoteOf(t, view, four, () => pm2('start', file));
    await takenNoteOf(t, view, four.slice(0, 3), () => pm2('delete', 'pi-more'));
  });
  for (const { status } of answers) assert.equal(status, 200);
  assert.deepEqual(Object.keys(shares(answers)).sort(), ['pi-1', 'pi-2', 'pi-3', 'pi-more']);
});

test('a server that dies is started again by PM2 and taken up again, and no GET is lost', async (t) => {
  const { ask, view } = await start(t, 'pi-1', 'pi-2', 'pi-3');
  const pidOf = async () => (await view()).servers.find(({ name }) => name === 'pi-2')?.pid;
  const pid = await pidOf();
  const answers = await underLoad(ask, '/pi', 8, async (soFar) => {
    await until(() => soFar.length > 40, 'the load is on');
    process.kill(pid, 'SIGKILL');
    await until(async () => {
      const now = await view();
      return namesOf(now).length === 3 && (await pidOf()) !== pid;
    }, 'another one is up');
  });
  for (const { status } of answers) assert.equal(status, 200);
});

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
