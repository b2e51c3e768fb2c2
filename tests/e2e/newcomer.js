const express = require('express');
const app = express();
app.get('/', (_request, response) => {
  response.json({ greeting: 'hello' });
});
app.get('/healthz', (_request, response) => {
  response.send('ok');
});
app.listen(process.env.PORT || 3000);
