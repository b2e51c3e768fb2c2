'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { readSettings, SettingError } = require('../../app/settings');

test('an empty environment gives the documented defaults', () => {
  assert.deepEqual(readSettings({}), {
    host: '127.0.0.1',
    port: 3000,
    instance: '0',
    mode: 'none',
    randomDelay: false,
    childProcesses: 'none',
    kittensLeak: true,
    piPoints: 10_000_000,
    logRequests: false,
    injectDelayMs: 0,
    injectWorkPercent: 0,
  });
});

test('an empty variable counts as unset', () => {
  assert.equal(readSettings({ PORT: '' }).port, 3000);
});

test('every variable is read', () => {
  const settings = readSettings({
    HOST: '::1',
    PORT: '8080',
    NODE_APP_INSTANCE: '3',
    exec_mode: 'cluster_mode',
    USE_RANDOM_DELAY: 'true',
    USE_CHILD_PROCESSES: 'true',
    KITTENS_LEAK: 'off',
    PI_POINTS: '1000',
    LOG_REQUESTS: 'true',
    INJECT_DELAY_MS: '400',
    INJECT_WORK_PERCENT: '2.5',
  });
  assert.deepEqual(settings, {
    host: '::1',
    port: 8080,
    instance: '3',
    mode: 'cluster',
    randomDelay: true,
    childProcesses: 'per-search',
    kittensLeak: false,
    piPoints: 1000,
    logRequests: true,
    injectDelayMs: 400,
    injectWorkPercent: 2.5,
  });
});

for (const [value, meaning] of [
  ['false', 'none'],
  ['true', 'per-search'],
  ['per-carrier', 'per-carrier'],
]) {
  test(`USE_CHILD_PROCESSES=${value} means ${meaning}`, () => {
    assert.equal(readSettings({ USE_CHILD_PROCESSES: value }).childProcesses, meaning);
  });
}

for (const [variable, value] of [
  ['PORT', 'abc'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['USE_RANDOM_DELAY', 'yes'],
  ['USE_CHILD_PROCESSES', 'constructor'],
  ['USE_CHILD_PROCESSES', 'none'],
  ['KITTENS_LEAK', 'false'],
  ['PI_POINTS', '0'],
  ['LOG_REQUESTS', '1'],
  ['INJECT_DELAY_MS', '-5'],
  ['INJECT_DELAY_MS', '5ms'],
  ['INJECT_WORK_PERCENT', '1e3'],
  ['INJECT_WORK_PERCENT', '1000.1'],
]) {
  test(`${variable}=${value} is refused in one line with name, value and what is allowed`, () => {
    assert.throws(
      () => readSettings({ [variable]: value }),
      (error) => {
        assert.ok(error instanceof SettingError);
        assert.match(error.message, /^\w+ is ".*"; allowed: .+$/);
        assert.ok(error.message.startsWith(`${variable} is "${value}"; allowed: `));
        return true;
      },
    );
  });
}
