'use strict';

module.exports = {
  apps: [
    {
      name: 'notes',
      script: 'server.js',
      cwd: __dirname,
      env: {
        NODE_ENV: 'production',
        PORT: process.env.PORT_NOTES || '3001',
        DATABASE_URL: process.env.DATABASE_URL,
      },
    },
  ],
};
