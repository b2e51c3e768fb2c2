'use strict';

const { createBalancer } = require('./balancer/app');
const { readSettings } = require('./balancer/settings');
const { run } = require('./listen');

run(readSettings, createBalancer);
