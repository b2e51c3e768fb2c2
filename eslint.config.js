'use strict';

const js = require('@eslint/js');
const globals = require('globals');

module.exports = [
  { ignores: ['**/node_modules/', '.tollgate/', '.venv/', 'reports/', 'examples/*/dist/'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { ecmaVersion: 2023, sourceType: 'commonjs', globals: globals.node },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      complexity: ['error', 8],
      curly: ['error', 'multi-line'],
      eqeqeq: 'error',
      'max-depth': ['error', 3],
      'max-lines': ['error', 350],
      'max-lines-per-function': ['error', 40],
      'max-params': ['error', 4],
      'no-console': 'off',
      'no-implicit-globals': 'error',
      'no-promise-executor-return': 'error',
      'no-shadow': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
      'require-await': 'error',
    },
  },
  {
    // Scripts of a page, each in an element of its own; uPlot comes before them.
    files: ['scripts/tollgate/report/pages/{kit,live}/*.js'],
    languageOptions: { sourceType: 'script', globals: { ...globals.browser, uPlot: 'readonly' } },
  },
  {
    // What is handed to a page runs there.
    files: ['tests/support/browser/*.js', 'scripts/dev/pictures/pages.js'],
    languageOptions: { globals: { document: 'readonly' } },
  },
  {
    // An app in one file, as its framework has it.
    files: ['tests/compatibility/openapi/**/*.js'],
    rules: {
      'max-lines-per-function': 'off',
      'max-params': 'off',
      'require-await': 'off',
    },
  },
  {
    // A target is one small router; where one grows past this, it usually holds two things.
    files: ['app/targets/*.js', 'app/targets/search/index.js'],
    rules: { 'max-lines': ['error', 60] },
  },
];
