'use strict';

const express = require('express');
const { RequestError } = require('./errors');

/**
 * A target's routes: each answers GET (and so HEAD), and any other method with 405.
 *
 * @param {Record<string, import('express').RequestHandler>} handlers by path
 * @returns {{ router: import('express').Router, paths: string[] }}
 */
function onlyGet(handlers) {
  const router = express.Router();
  for (const [path, handler] of Object.entries(handlers)) {
    router.route(path).get(handler).all(refuseMethod);
  }
  return { router, paths: Object.keys(handlers) };
}

function refuseMethod(req, res) {
  res.set('Allow', 'GET, HEAD');
  throw new RequestError('method', req.method, 'GET, HEAD', 405);
}

module.exports = { onlyGet };
