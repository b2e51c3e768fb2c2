'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { ECOSYSTEM, ownPm2 } = require('./support/pm2');
const { ROOT, until } = require('./support/processes');

const WATCHER = path.join(ROOT, 'scripts', 'tollgate', 'targets', 'watch-workers.js');

/** The lines of a watcher so far, how its terminal hangs up, and how to end it as a run does. */
function watch(t, env) {
  const child = spawn(process.execPath, [WATCHER], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  const lines = () => {
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole.split('\n').filter(Boolean).map(JSON.parse);
  };
  const end = async () => {
    child.stdin.end();
    return (await once(child, 'close'))[0];
  };
  return { lines, end, hangUp: () => child.kill('SIGHUP') };
}

/** Of the app's first worker. */
function eventsOf(lines, app) {
  return lines.filter((line) => line.app === app && line.worker === 0 && line.event);
}

function latest(lines, app) {
  return lines.filter((line) => line.app === app && line.worker === 0 && !line.event).at(-1);
}

test('the watcher tells what workers need, and to the millisecond when one died', async (t) => {
  const { pm2, env, ports } = await ownPm2(t);
  await pm2('start', ECOSYSTEM);
  const { lines, end, hangUp } = watch(t, env);
  const tests = {
    'after its terminal has hung up as before': async () => {
      await until(() => latest(lines(), 'fork'), 'the first look');
      hangUp();
    },
    'requests, memory and the delay of the event loop': () => needs(lines, ports.fork),
    'a worker that is killed, and its successor': () => killed(lines),
    'a reload, whose new processes are online before the old ones end': () => reloaded(lines, pm2),
    'nothing else, and leaves when the run does': async () => {
      assert.equal(await end(), 0);
      for (const { event, rss } of lines()) assert.ok(event || rss !== 0);
      assert.deepEqual(eventsOf(lines(), 'fork'), []);
    },
  };
  for (const [name, run] of Object.entries(tests)) await t.test(name, run);
});

test('of a service that tells nothing of itself, PM2 knows all but the requests', async (t) => {
  const { pm2, env, home } = await ownPm2(t);
  const script = path.join(home, 'plain.js');
  fs.writeFileSync(script, 'setInterval(() => {}, 100);');
  await pm2('start', script, '--name', 'plain');
  const { lines } = watch(t, env);
  const isKnown = (line) => line?.heap && line.loopDelayP50 !== null && line.loopDelayP95 !== null;
  await until(() => isKnown(latest(lines(), 'plain')), "PM2's own metrics");
  assert.equal(latest(lines(), 'plain').requests, null);
});

test('of what Node does not run, memory is that of all that it has started', async (t) => {
  const { pm2, env, home } = await ownPm2(t);
  const script = path.join(home, 'tree.sh');
  const large = 'const it = Buffer.alloc(2e8, 1); setInterval(() => it.length, 1000)';
  fs.writeFileSync(script, `node -e '${large}' &\nwait\n`);
  await pm2('start', script, '--name', 'tree');
  const { lines } = watch(t, env);
  await until(() => latest(lines(), 'tree')?.rss > 2e8, 'the memory of its child');
});

async function needs(lines, port) {
  await until(() => latest(lines(), 'fork')?.requests === 0, 'the first vitals');
  for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${port}/healthz`);
  await until(() => latest(lines(), 'fork').requests === 3, 'three requests are told');
  const { pid, rss, heap, loopDelayP50, loopDelayP95, status } = latest(lines(), 'fork');
  assert.ok(pid > 1);
  assert.ok(rss > heap && heap > 1e6);
  assert.ok(loopDelayP50 <= loopDelayP95);
  assert.equal(status, 'online');
}

async function killed(lines) {
  const { pid } = latest(lines(), 'cluster');
  assert.ok(pid > 1); // 0 would be this test and all its relatives
  process.kill(pid, 'SIGKILL');
  await until(() => eventsOf(lines(), 'cluster').length === 2, 'both events are told');
  const [exit, online] = eventsOf(lines(), 'cluster');
  assert.deepEqual([exit.event, exit.pid, exit.byPm2], ['exit', pid, false]);
  assert.equal(online.event, 'online');
  assert.ok(online.time > exit.time);
  const isBack = (line) => line.pid !== pid && line.status === 'online' && line.requests === 0;
  await until(() => isBack(latest(lines(), 'cluster')), 'the new one is seen');
  assert.equal(latest(lines(), 'cluster').pid, online.pid);
  assert.equal(latest(lines(), 'cluster').restarts, 1);
}

async function reloaded(lines, pm2) {
  const before = lines().length;
  await pm2('reload', 'cluster');
  const since = () => eventsOf(lines().slice(before), 'cluster');
  await until(() => since().length === 2, 'both events are told');
  const [online, exit] = since();
  assert.deepEqual([online.event, exit.event, exit.byPm2], ['online', 'exit', true]);
  assert.notEqual(online.pid, exit.pid);
}
