'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { execFileSync } = require('node:child_process');
const { test } = require('node:test');
const { ECOSYSTEM } = require('./support/pm2');
const { cleanEnv, ROOT } = require('./support/processes');

const PRINT = 'process.stdout.write(JSON.stringify(require(process.argv[1]).apps))';

/** The apps of both sides as they are with these variables. */
function all(variables = {}) {
  const env = cleanEnv(variables);
  const text = execFileSync(process.execPath, ['-e', PRINT, ECOSYSTEM], { env, encoding: 'utf8' });
  return JSON.parse(text).filter((app) => /^(base|head)\b/.test(app.name));
}

/** The apps `base` and `head` alone. */
function compared(variables) {
  const apps = all(variables);
  return ['base', 'head'].map((name) => apps.find((app) => app.name === name));
}

/** What makes the two apps differ, by name. */
function differences([base, head]) {
  const flat = ({ env, ...app }) => ({ ...app, ...env });
  const [a, b] = [flat(base), flat(head)];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.filter((name) => a[name] !== b[name]).sort();
}

test('base and head differ by name and port alone', () => {
  assert.deepEqual(differences(compared()), ['PORT', 'name']);
});

test('the processes of a side differ by name and port alone', () => {
  const apps = all({ HEAD_INJECT_DELAY_MS: '7', HEAD_FOLDER: '/head' });
  for (const side of ['base', 'head']) {
    const [first, ...others] = apps.filter((app) => app.name.startsWith(side));
    assert.equal(others.length, 3);
    for (const other of others) assert.deepEqual(differences([first, other]), ['PORT', 'name']);
  }
});

test('the ports of a side follow its first, and each can be another', () => {
  const ports = (variables) => all(variables).map((app) => Number(app.env.PORT));
  assert.deepEqual(ports(), [3021, 3022, 3023, 3024, 3025, 3026, 3027, 3028]);
  const moved = { PORT_BASE: '4001', PORT_HEAD: '5001', PORT_HEAD_2: '6001' };
  assert.deepEqual(ports(moved), [4001, 4002, 4003, 4004, 5001, 6001, 5003, 5004]);
});

test('what is set for both hits both', () => {
  const apps = compared({ INJECT_DELAY_MS: '5', LOG_REQUESTS: 'true' });
  assert.deepEqual(differences(apps), ['PORT', 'name']);
});

test('in cluster mode each side is one app', () => {
  const names = all({ COMPARE_MODE: 'cluster' }).map((app) => app.name);
  assert.deepEqual(names, ['base', 'head']);
});

test('both are in the mode of the comparison', () => {
  const modes = (variables) => compared(variables).map((app) => [app.exec_mode, app.instances]);
  assert.deepEqual(modes(), Array(2).fill(['fork', 1]));
  assert.deepEqual(modes({ COMPARE_MODE: 'fork' }), Array(2).fill(['fork', 1]));
  assert.deepEqual(modes({ COMPARE_MODE: 'cluster' }), Array(2).fill(['cluster', 'max']));
});

test('each is the server of its own folder, and of this one by default', () => {
  const places = (variables) => compared(variables).map((it) => path.resolve(it.cwd, it.script));
  const here = path.join(ROOT, 'app', 'server.js');
  assert.deepEqual(places(), [here, here]);
  const there = path.join('/base', 'app', 'server.js');
  assert.deepEqual(places({ BASE_FOLDER: '/base' }), [there, here]);
  assert.deepEqual(places({ HEAD_FOLDER: '/base' }), [here, there]);
});

test('head alone is slowed by what says so', () => {
  const given = { HEAD_INJECT_DELAY_MS: '7', HEAD_INJECT_WORK_PERCENT: '20' };
  const [base, head] = compared(given);
  const injected = ({ env }) => [env.INJECT_DELAY_MS, env.INJECT_WORK_PERCENT];
  assert.deepEqual([injected(base), injected(head)], [Array(2).fill(undefined), ['7', '20']]);
});
