'use strict';

const { createApp } = require('./app');
const { run } = require('./listen');
const { readSettings } = require('./settings');

run(readSettings, (settings) => createApp({ settings }));
