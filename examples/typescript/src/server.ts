import express from 'express';

interface Order {
  symbol: string;
  count: number;
}

const prices = new Map([['ACME', 120], ['GLOBEX', 75], ['INITECH', 42], ['UMBRELLA', 310]]);
const app = express();
app.use(express.json());

app.get('/healthz', (_request, response) => {
  response.send('ok');
});

app.get('/quotes/:symbol', (request, response) => {
  const { symbol } = request.params;
  const price = prices.get(symbol);
  if (price === undefined) response.status(404).json({ error: `no quote for ${symbol}` });
  else response.json({ symbol, price });
});

app.post('/orders', (request, response) => {
  const { symbol, count } = request.body as Order;
  response.status(201).json({ symbol, total: count * (prices.get(symbol) ?? 0) });
});

app.listen(Number(process.env.PORT ?? 3000));
