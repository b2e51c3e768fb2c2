import express, { NextFunction, Request, Response } from 'express';
import { RegisterRoutes } from './dist/routes';
import document from './dist/swagger.json';

const app = express();
app.use(express.json(), express.urlencoded({ extended: true }));
app.get('/openapi.json', (_: Request, response: Response) => void response.json(document));
RegisterRoutes(app);
app.use((error: any, _request: Request, response: Response, _next: NextFunction) => {
  response.status(error.status ?? 500).json({ message: error.message, fields: error.fields });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
