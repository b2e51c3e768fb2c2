'use strict';

const countVisits = require('../../count-visits');

/** A middleware of verdaccio. */
module.exports = function plugin() {
  return { register_middlewares: (app) => app.use(countVisits) };
};
