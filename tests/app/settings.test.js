'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { readSettings, SettingError } = require('../../app/settings');

// Of each variable: the setting, its default, a text and what that means.
const VARIABLES = {
  HOST: ['host', '127.0.0.1', '::1', '::1'],
  PORT: ['port', 3000, '8080', 8080],
  NODE_APP_INSTANCE: ['instance', '0', '3', '3'],
  exec_mode: ['mode', 'none', 'cluster_mode', 'cluster'],
  USE_RANDOM_DELAY: ['randomDelay', false, 'true', true],
  USE_CHILD_PROCESSES: ['childProcesses', 'none', 'true', 'per-search'],
  KITTENS_LEAK: ['kittensLeak', true, 'off', false],
  PI_POINTS: ['piPoints', 10_000_000, '1000', 1000],
  LOG_REQUESTS: ['logRequests', false, 'true', true],
  INJECT_DELAY_MS: ['injectDelayMs', 0, '400', 400],
  INJECT_WORK_PERCENT: ['injectWorkPercent', 0, '2.5', 2.5],
};
const settings = (which) =>
  Object.fromEntries(Object.values(VARIABLES).map((each) => [each[0], each[which]]));

test('an empty environment gives the documented defaults, and so does an empty variable', () => {
  assert.deepEqual(readSettings({}), settings(1));
  assert.equal(readSettings({ PORT: '' }).port, 3000);
});

test('every variable is read', () => {
  const texts = Object.entries(VARIABLES).map(([variable, each]) => [variable, each[2]]);
  assert.deepEqual(readSettings(Object.fromEntries(texts)), settings(3));
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

const REFUSED = {
  PORT: ['abc', '65536', '-1', '80.5'],
  USE_RANDOM_DELAY: ['yes'],
  USE_CHILD_PROCESSES: ['constructor', 'none'],
  KITTENS_LEAK: ['false'],
  PI_POINTS: ['0'],
  LOG_REQUESTS: ['1'],
  INJECT_DELAY_MS: ['-5', '5ms'],
  INJECT_WORK_PERCENT: ['1e3', '1000.1'],
};
const each = ([variable, values]) => values.map((value) => [variable, value]);
for (const [variable, value] of Object.entries(REFUSED).flatMap(each)) {
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
