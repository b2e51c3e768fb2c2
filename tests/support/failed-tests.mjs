import path from 'node:path';

/** A reporter of node --test: one line for each test that failed. */
export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.details.error.failureType === 'subtestsFailed') continue;
    yield `${path.relative('.', data.file)}: ${data.name}\n`;
  }
}
