'use strict';

const { RequestError } = require('../../errors');

const STATION = 'a station code of 3 letters A-Z';

/**
 * Checks the query of a search.
 *
 * @param {object} given req.query; a parameter given twice is an array there, and refused
 * @returns {{ origin: string, destination: string, date: string }} station codes, YYYY-MM-DD
 * @throws {RequestError}
 */
function readQuery({ origin, destination, date }) {
  check('origin', origin, isStation(origin), STATION);
  check('destination', destination, isStation(destination), STATION);
  check('destination', destination, destination !== origin, 'another station than the origin');
  check('date', date, isCalendarDate(date), 'a calendar date as YYYY-MM-DD');
  return { origin, destination, date };
}

function check(parameter, value, holds, allowed) {
  if (!holds) throw new RequestError(parameter, value, allowed);
}

function isStation(value) {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value);
}

function isCalendarDate(value) {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const day = new Date(`${value}T00:00:00Z`);
  // 2026-02-30 is either no date or, rolled over, another one.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

module.exports = { readQuery };
