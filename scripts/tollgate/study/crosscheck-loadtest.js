'use strict';

// node crosscheck-loadtest.js URL USERS SECONDS: prints what loadtest found as JSON.
//
// Its API and not its command, which lingers until the server gives up its idle connections.

/**
 * Makes a request of loadtest on its user's one connection.
 *
 * loadtest sends the next request just before its connection is free again, and so opens a second
 * one for each user, in the midst of the load. A server that is busy accepts these slowly, and the
 * users who wait for that count neither as requests nor in any percentile.
 */
function onOneConnection(options, params, request, callback) {
  params.agent.maxSockets = 1;
  return request(params, callback);
}

async function main([url, users, seconds]) {
  const { loadTest } = await import('loadtest');
  const result = await loadTest({
    url,
    concurrency: Number(users),
    maxSeconds: Number(seconds),
    agentKeepAlive: true,
    cores: 1,
    quiet: true,
    requestGenerator: onOneConnection,
  });
  process.stdout.write(JSON.stringify(result), () => process.exit());
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`, () => process.exit(1));
});
