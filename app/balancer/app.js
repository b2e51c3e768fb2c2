'use strict';

const express = require('express');
const helmet = require('helmet');
const { version } = require('../../package.json');
const { answerError } = require('../errors');
const { onlyGet } = require('../routes');
const { discover } = require('./discovery');
const { answerGatewayError } = require('./errors');
const { forwarder } = require('./forward');
const { Servers } = require('./servers');

/**
 * The balancer as an Express application, without a listener: GET /balancer/healthz is its own,
 * anything else goes to a server.
 *
 * @param {object} settings as readSettings() gives them
 * @returns {Promise<import('express').Express>} once the servers there are have been checked
 */
async function createBalancer(settings) {
  const servers = new Servers(settings);
  const discovery = await discover(settings, (found) => servers.update(found));
  await servers.checked();

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use('/balancer', helmet());
  app.use(health(servers, discovery).router);
  app.use(forwarder(servers, settings));
  app.use(answerGatewayError);
  app.use(answerError);
  return app;
}

/** GET /balancer/healthz: who is in the deal. 503 while nobody is. */
function health(servers, discovery) {
  return onlyGet({
    '/balancer/healthz': (req, res) => {
      const view = servers.view();
      const up = view.some(({ status }) => status === 'up');
      res.status(up ? 200 : 503).json({
        status: up ? 'ok' : 'no server is up',
        pid: process.pid,
        version,
        discovery: discovery(),
        servers: view,
      });
    },
  });
}

module.exports = { createBalancer };
