'use strict';

const assert = require('node:assert/strict');
const { clientOf } = require('./balancer');
const { ECOSYSTEM, ownPm2 } = require('./pm2');
const { until } = require('./processes');

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

module.exports = { namesOf, start, takenNoteOf };
