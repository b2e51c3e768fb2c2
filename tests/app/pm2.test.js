'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { once } = require('node:events');
const { test } = require('node:test');
const { timing } = require('./support/app');
const { request } = require('./support/balancer');
const { ECOSYSTEM, ownPm2 } = require('./support/pm2');
const { childrenOf, until } = require('./support/processes');

const CPUS = os.cpus().length;

/** Asks on a connection of its own, since PM2 deals connections and not requests. */
const ask = (port, urlPath) => request({ port, path: urlPath, agent: false });

function describe(apps) {
  return apps.map(({ name, pm2_env: { exec_mode: mode, status } }) => `${name} ${mode} ${status}`);
}

test('the topology can be read without PM2', () => {
  const port = (variable, declared) => process.env[variable] || declared;
  const read = require(ECOSYSTEM).apps.map(({ name, exec_mode: mode, instances, env }) => [
    name,
    mode,
    instances,
    env.PORT,
  ]);
  assert.deepEqual(read, [
    ['fork', 'fork', 1, port('PORT_FORK', '3001')],
    ['cluster', 'cluster', 'max', port('PORT_CLUSTER', '3002')],
    ['fork-logging', 'fork', 1, port('PORT_FORK_LOGGING', '3003')],
    ['cluster-logging', 'cluster', 'max', port('PORT_CLUSTER_LOGGING', '3004')],
    ['search-per-search', 'fork', 1, port('PORT_SEARCH_PER_SEARCH', '3005')],
    ['search-per-carrier', 'fork', 1, port('PORT_SEARCH_PER_CARRIER', '3006')],
    ['pi-1', 'fork', 1, port('PORT_PI_1', '3011')],
    ['pi-2', 'fork', 1, port('PORT_PI_2', '3012')],
    ['pi-3', 'fork', 1, port('PORT_PI_3', '3013')],
    ['balancer', 'fork', 1, port('PORT_BALANCER', '3010')],
  ]);
});

test('PM2 gives a draining server longer than the server gives itself', () => {
  const { DRAIN_LIMIT_MS } = require('../../app/drain');
  for (const app of require(ECOSYSTEM).apps) {
    assert.ok(app.kill_timeout > DRAIN_LIMIT_MS);
    assert.equal(app.treekill, false);
    assert.equal(app.wait_ready, true);
  }
});

test('PM2 starts both modes, every worker answers, and a reload loses no request', async (t) => {
  const { pm2, list, ports } = await ownPm2(t, { USE_CHILD_PROCESSES: 'true' });
  await pm2('start', ECOSYSTEM, '--only', 'fork,cluster');

  await t.test('one process in fork mode, as many as there are cores in cluster mode', async () => {
    const workers = Array(CPUS).fill('cluster cluster_mode online');
    assert.deepEqual(describe(await list()), ['fork fork_mode online', ...workers]);
  });

  for (const [mode, expected] of [
    ['fork', 1],
    ['cluster', CPUS],
  ]) {
    await t.test(`every worker answers in ${mode} mode and names itself`, async () => {
      const workers = new Map();
      await until(async () => {
        const { headers, body } = await ask(ports[mode], '/healthz');
        const health = JSON.parse(body);
        assert.equal(health.mode, mode);
        assert.equal(health.instance, headers['x-worker']);
        workers.set(health.instance, health.pid);
        return workers.size === expected;
      }, `${expected} workers have answered`);
      assert.equal(new Set(workers.values()).size, expected);
    });

    await t.test(`child processes work in ${mode} mode`, async () => {
      const query = '/search?origin=PAR&destination=LYS&date=2026-03-14';
      const { body } = await ask(ports[mode], query);
      const { tickets, warnings } = JSON.parse(body);
      assert.ok(tickets.length > 0);
      assert.deepEqual(warnings, []);
    });
  }

  await t.test('a reload under load loses no request', () => reloadUnderLoad({ pm2, ports }));
});

async function reloadUnderLoad({ pm2, ports }) {
  const agent = new http.Agent({ keepAlive: true });
  const pids = new Set();
  let over = false;
  const user = async () => {
    while (!over) {
      const signal = AbortSignal.timeout(20_000); // a request that is lost in silence
      const asked = { port: ports.cluster, path: '/healthz', agent, signal };
      const { status, body } = await request(asked);
      assert.equal(status, 200);
      pids.add(JSON.parse(body).pid);
    }
  };
  const users = Promise.all([user(), user(), user()]);
  await pm2('reload', 'cluster').finally(() => (over = true));
  await users;
  agent.destroy();
  assert.ok(pids.size > CPUS, `${pids.size} processes answered`);
}

test('PM2 starts one app alone, and the environment of its caller arrives', async (t) => {
  const { pm2, list, ports } = await ownPm2(t, { INJECT_DELAY_MS: '321' });
  await pm2('start', ECOSYSTEM, '--only', 'fork');
  assert.deepEqual(describe(await list()), ['fork fork_mode online']);
  const response = await fetch(`http://127.0.0.1:${ports.fork}/sum`);
  assert.ok(timing(response).injected >= 321);
});

test('what makes an app another server goes before the environment of its caller', async (t) => {
  const settings = { LOG_REQUESTS: 'false', USE_CHILD_PROCESSES: 'false' };
  const { pm2, list, home, ports } = await ownPm2(t, settings);
  const apps = ['fork', 'fork-logging', 'search-per-search', 'search-per-carrier'];
  await pm2('start', ECOSYSTEM, '--only', apps.join(','));
  const pids = Object.fromEntries((await list()).map(({ name, pid }) => [name, pid]));

  await t.test('only the logging one logs requests', async () => {
    const logged = (name) =>
      fs.readFileSync(path.join(home, 'logs', `${name}-out.log`), 'utf8').includes('GET /sum/7 ');
    for (const name of ['fork', 'fork-logging']) await ask(ports[name], '/sum/7');
    await until(() => logged('fork-logging'), 'the request is logged');
    assert.equal(logged('fork'), false);
  });

  const search = (name) => ask(ports[name], '/search?origin=PAR&destination=LYS&date=2026-03-14');

  await t.test('one has child processes for as long as a search takes', async () => {
    let seen = false;
    const user = async () => {
      while (!seen) await search('search-per-search');
    };
    const watcher = until(() => childrenOf(pids['search-per-search']).length > 0, 'there is one');
    await Promise.all([user(), watcher.finally(() => (seen = true))]);
    await until(() => childrenOf(pids['search-per-search']).length === 0, 'they are gone');
  });

  await t.test('one has a child process a carrier, which stays; one has none', async () => {
    for (const name of ['fork', 'search-per-carrier']) await search(name);
    assert.equal(childrenOf(pids['search-per-carrier']).length, 3);
    assert.deepEqual(childrenOf(pids.fork), []);
  });
});

test('an app that cannot start says why and is given up', async (t) => {
  const { pm2, list, home, ports } = await ownPm2(t);
  const holder = net.createServer().listen(ports.fork, '127.0.0.1');
  t.after(() => holder.close());
  await once(holder, 'listening');
  await pm2('start', ECOSYSTEM, '--only', 'fork').catch(() => {});
  await until(async () => (await list())[0].pm2_env.status === 'errored', 'it is given up');
  const log = fs.readFileSync(path.join(home, 'logs', 'fork-error.log'), 'utf8');
  const lines = log.trimEnd().split('\n');
  assert.ok(lines.length <= 4);
  for (const line of lines) assert.match(line, /^tollgate: cannot listen on .*\(EADDRINUSE\)$/);
});
