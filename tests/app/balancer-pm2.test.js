'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { shares, underLoad } = require('./support/balancer');
const { namesOf, start, takenNoteOf } = require('./support/balancer-pm2');
const { freePort, ROOT, until } = require('./support/processes');

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
