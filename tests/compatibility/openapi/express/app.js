'use strict';

// Recipes on Express, described in comments that swagger-jsdoc reads; express-openapi-validator
// refuses what differs.

const express = require('express');
const validator = require('express-openapi-validator');
const swaggerJsdoc = require('swagger-jsdoc');

/**
 * @openapi
 * components:
 *   parameters:
 *     id: { name: id, in: path, required: true, schema: { type: integer, minimum: 1 } }
 *   schemas:
 *     Amount:
 *       type: object
 *       required: [value, unit]
 *       additionalProperties: false
 *       properties:
 *         value: { type: number, minimum: 0, exclusiveMinimum: true }
 *         unit: { type: string, enum: [g, ml, piece] }
 *     NewRecipe:
 *       type: object
 *       required: [title, slug, servings, ingredients, author]
 *       properties:
 *         title: { type: string, minLength: 3, maxLength: 60 }
 *         slug: { type: string, pattern: '^[a-z]+(-[a-z]+)*$' }
 *         servings: { type: integer, minimum: 1, maximum: 24 }
 *         ready: { type: string, format: time, nullable: true }
 *         author: { oneOf: [{ $ref: '#/components/schemas/Cook' }, { $ref: '#/components/schemas/Book' }] }
 *         ingredients:
 *           type: object
 *           minProperties: 1
 *           additionalProperties: { $ref: '#/components/schemas/Amount' }
 *     Cook:
 *       type: object
 *       required: [nick, since]
 *       properties:
 *         nick: { type: string, pattern: '^\w{3,12}$' }
 *         since: { type: string, format: date }
 *     Book:
 *       type: object
 *       required: [isbn]
 *       properties: { isbn: { type: string, pattern: '^[0-9]{13}$' } }
 *     Recipe:
 *       allOf:
 *         - { $ref: '#/components/schemas/NewRecipe' }
 *         - { type: object, required: [id], properties: { id: { type: integer, readOnly: true } } }
 */
const recipes = new Map();
const put = (id, it) => {
  recipes.set(id, { ...it, id });
  return recipes.get(id);
};
const soup = { title: 'Soup', slug: 'soup', servings: 4, author: { isbn: '9783123456789' } };
for (const id of [1, 2, 3]) {
  put(id, { ...soup, ingredients: { water: { value: 500, unit: 'ml' } } });
}

const app = express();
app.set('query parser', 'extended');
app.use(express.json(), express.urlencoded({ extended: true }));
const apiSpec = swaggerJsdoc({
  definition: { openapi: '3.0.3', info: { title: 'Recipes', version: '1' } },
  apis: [__filename],
});
app.get('/openapi.json', (_, response) => response.json(apiSpec));
app.use(validator.middleware({ apiSpec, ignorePaths: /openapi/ }));
app.param('id', (request, response, next, id) => {
  request.recipe = recipes.get(Number(id));
  return request.recipe ? next() : response.sendStatus(404);
});

/**
 * @openapi
 * /recipes:
 *   get:
 *     operationId: listRecipes
 *     parameters:
 *       - { name: tags, in: query, style: pipeDelimited, explode: false, required: true, schema: { type: array, minItems: 1, items: { type: string, enum: [soup, cake] } } }
 *       - name: filter
 *         in: query
 *         style: deepObject
 *         explode: true
 *         required: true
 *         schema:
 *           type: object
 *           required: [servings]
 *           properties: { servings: { type: integer, minimum: 1 }, slug: { type: string, pattern: '^[a-z]+$' } }
 *     responses: { 200: { description: some } }
 *   post:
 *     operationId: addRecipe
 *     requestBody:
 *       required: true
 *       content: { application/json: { schema: { $ref: '#/components/schemas/NewRecipe' } } }
 *     responses: { 201: { description: made } }
 */
app.get('/recipes', (_, response) => response.json([...recipes.values()]));
app.post('/recipes', (request, response) =>
  response.status(201).json(put(recipes.size + 1, request.body)),
);

/**
 * @openapi
 * /recipes/{id}:
 *   parameters: [{ $ref: '#/components/parameters/id' }]
 *   get: { operationId: recipe, responses: { 200: { description: it }, 404: { description: none } } }
 *   put:
 *     operationId: replaceRecipe
 *     requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Recipe' } } } }
 *     responses: { 200: { description: it } }
 *   delete: { operationId: removeRecipe, responses: { 204: { description: gone } } }
 */
app.get('/recipes/:id', (request, response) => response.json(request.recipe));
app.put('/recipes/:id', (request, response) => response.json(put(request.recipe.id, request.body)));
app.delete('/recipes/:id', (request, response) => {
  recipes.delete(request.recipe.id);
  response.sendStatus(204);
});

/**
 * @openapi
 * /recipes/{id}/ratings:
 *   post:
 *     operationId: rate
 *     parameters: [{ $ref: '#/components/parameters/id' }]
 *     requestBody:
 *       content:
 *         application/x-www-form-urlencoded:
 *           schema:
 *             type: object
 *             required: [stars, by]
 *             properties: { stars: { type: integer, minimum: 1, maximum: 5 }, by: { type: string, format: email } }
 *     responses: { 201: { description: rated } }
 * /conversions/{from}/{to}:
 *   get:
 *     operationId: convert
 *     parameters:
 *       - { name: from, in: path, required: true, schema: { type: string, enum: [cup, ounce] } }
 *       - { name: to, in: path, required: true, schema: { type: string, enum: [g, ml] } }
 *       - { name: amount, in: query, required: true, schema: { type: number, minimum: 0.5, maximum: 0.75 } }
 *     responses: { 200: { description: fine } }
 */
app.post('/recipes/:id/ratings', (_, response) => response.status(201).json({}));
app.get('/conversions/:from/:to', (request, response) => response.json(request.params));

app.use((error, _request, response, _next) => {
  response.status(error.status ?? 500).json({ message: error.message });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
