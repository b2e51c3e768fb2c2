// node read.mjs FOLDER SCHEMA: what readers of Node make of the files of each run below FOLDER, as
// JSON: {reader: {run: ...}}. A reader of junit.xml gives its number of cases, the texts of the red
// ones, and its seconds where it adds them up; one of comments gives HTML; ajv gives errors.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import Ajv from 'ajv/dist/2020.js';
import { convertJUnitToCTRFReport } from 'junit-to-ctrf';
import { mergeToString } from 'junit-report-merger';
import { parse } from 'junit2json';
import markdownIt from 'markdown-it';
import rehypeRaw from 'rehype-raw';
import rehypeSanitize from 'rehype-sanitize';
import rehypeStringify from 'rehype-stringify';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

const [folder, schema] = process.argv.slice(2);
const red = ({ failure, error }) => [...(failure ?? []), ...(error ?? [])];

// What GitHub leaves of a comment is rehype-sanitize's default.
const sanitised = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeRaw)
  .use(rehypeSanitize)
  .use(rehypeStringify);
const linkifying = markdownIt({ html: true, linkify: true });
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(
  JSON.parse(fs.readFileSync(schema, 'utf8')),
);

const readers = {
  junit2json: [
    'junit.xml',
    async (file, text) => {
      const suites = (await parse(text)).testsuite;
      const cases = suites.flatMap(({ testcase }) => testcase ?? []);
      const seconds = suites.reduce((sum, { time }) => sum + time, 0);
      return [cases.length, cases.flatMap(red).map(({ inner }) => inner), seconds];
    },
  ],
  'junit-report-merger': [
    'junit.xml',
    async (file, text) => {
      const merged = await parse(await mergeToString([text]));
      const cases = merged.testsuite.flatMap(({ testcase }) => testcase ?? []);
      return [cases.length, cases.flatMap(red).map(({ inner }) => inner), null];
    },
  ],
  'junit-to-ctrf': [
    'junit.xml',
    async (file) => {
      const { tests } = (await convertJUnitToCTRFReport(file)).results;
      const failed = tests.filter(({ status }) => status === 'failed');
      return [tests.length, failed.map(({ trace }) => trace), null];
    },
  ],
  'markdown-it': ['comment.md', (file, text) => linkifying.render(text)],
  'rehype-sanitize': ['comment.md', async (file, text) => String(await sanitised.process(text))],
  ajv: ['verdict.json', (file, text) => (validate(JSON.parse(text)) ? [] : validate.errors)],
};
const made = {};
for (const [reader, [name, read]] of Object.entries(readers)) {
  made[reader] = {};
  for (const run of fs.readdirSync(folder)) {
    const file = path.join(folder, run, name);
    made[reader][run] = await read(file, fs.readFileSync(file, 'utf8'));
  }
}
process.stdout.write(JSON.stringify(made));
