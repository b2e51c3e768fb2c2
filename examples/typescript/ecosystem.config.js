'use strict';

module.exports = {
  apps: [
    {
      name: 'quotes',
      script: 'dist/server.js',
      cwd: __dirname,
      env: { NODE_ENV: 'production', PORT: process.env.PORT_QUOTES || '3000' },
    },
  ],
};
