'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { serve } = require('./support/app');

const EXPECTED = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  x: (a, b) => a * b,
};

test('calculate gives the exact result for every operator', async (t) => {
  const get = await serve(t);
  const operators = new Set();
  for (let i = 0; i < 100; i += 1) {
    const response = await get('/calculate');
    assert.equal(response.status, 200);
    const { timestamp, operator, operand, number } = await response.json();
    const exact = EXPECTED[operator](BigInt(timestamp), BigInt(operand));
    assert.equal(number, exact.toString());
    operators.add(operator);
  }
  assert.deepEqual([...operators].sort(), ['+', '-', 'x']);
});

test('calculate takes the clock now and a 12-digit operand', async (t) => {
  const get = await serve(t);
  const before = Date.now();
  const answer = await (await get('/calculate')).json();
  assert.deepEqual(Object.keys(answer), ['timestamp', 'operator', 'operand', 'number']);
  assert.ok(answer.timestamp >= before && answer.timestamp <= Date.now());
  assert.match(String(answer.operand), /^[1-9]\d{11}$/);
});

test('operands differ from answer to answer', async (t) => {
  const get = await serve(t);
  const operands = new Set();
  for (let i = 0; i < 20; i += 1) operands.add((await (await get('/calculate')).json()).operand);
  assert.ok(operands.size >= 19);
});
