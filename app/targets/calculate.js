'use strict';

const { onlyGet } = require('../routes');

const OPERATIONS = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  x: (a, b) => a * b,
};
const OPERATORS = Object.keys(OPERATIONS);
const LEAST_OPERAND = 100_000_000_000;

/**
 * GET /calculate: the clock in milliseconds +, - or x a random 12-digit number.
 *
 * The product has 25 digits, beyond what a JSON number carries through most parsers, so `number`
 * is exact and a string of decimal digits; `timestamp` and `operand` are JSON numbers.
 */
function calculate() {
  return onlyGet({
    '/calculate': (req, res) => {
      const timestamp = Date.now();
      const operator = OPERATORS[Math.floor(Math.random() * OPERATORS.length)];
      const operand = LEAST_OPERAND + Math.floor(Math.random() * 9 * LEAST_OPERAND);
      const number = OPERATIONS[operator](BigInt(timestamp), BigInt(operand)).toString();
      res.json({ timestamp, operator, operand, number });
    },
  });
}

module.exports = calculate;
