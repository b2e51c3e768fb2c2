'use strict';

const express = require('express');
const helmet = require('helmet');
const morgan = require('morgan');
const { answerError, unknownRoute } = require('./errors');
const { slowDown } = require('./injection');
const { readSettings } = require('./settings');
const calculate = require('./targets/calculate');
const health = require('./health');
const kittens = require('./targets/kittens');
const pi = require('./targets/pi');
const search = require('./targets/search');
const sum = require('./targets/sum');

/**
 * The Express application, without a listener.
 *
 * @param {object} [options]
 * @param {object} [options.settings] as readSettings() gives them; by default nothing is set
 * @param {object} [options.search] other carriers or another time limit, see targets/search
 * @returns {import('express').Express}
 */
function createApp({ settings = readSettings(), search: searchOptions } = {}) {
  const healthRoutes = health(settings);
  const targets = [
    calculate(settings),
    sum(settings),
    search(settings, searchOptions),
    kittens(settings),
    pi(settings),
  ];

  const app = express();
  app.disable('x-powered-by');
  // An ETag is a hash over every answer: work that is not the target's.
  app.disable('etag');

  app.use(nameWorker(settings.instance));
  if (settings.logRequests) app.use(morgan('combined'));
  app.use(helmet());
  app.use(healthRoutes.router);
  app.use(slowDown({ delayMs: settings.injectDelayMs, workPercent: settings.injectWorkPercent }));
  for (const { router } of targets) app.use(router);

  app.use(unknownRoute([healthRoutes, ...targets].flatMap(({ paths }) => paths)));
  app.use(answerError);
  return app;
}

function nameWorker(instance) {
  return (req, res, next) => {
    res.set('X-Worker', instance);
    next();
  };
}

module.exports = { createApp };
