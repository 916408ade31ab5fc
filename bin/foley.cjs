#!/usr/bin/env node
'use strict';
// Plain CommonJS on purpose: it must run on any Node to say that the Node is too old, and it
// answers --version before anything is loaded (docs/decisions/0001-bundle.md).
const { version, engines } = require('../package.json');

const oldest = engines.node.replace('>=', '').split('.').map(Number);
const running = process.versions.node.split('.').map(Number);
const difference = oldest.map((part, index) => running[index] - part).find((part) => part !== 0);

if (difference < 0) {
  process.stderr.write(
    `foley: needs Node ${oldest.join('.')} or newer; this is ${process.versions.node}. Install a newer Node and try again.\n`,
  );
  process.exitCode = 2;
} else if (process.argv.length === 3 && /^(-V|--version)$/.test(process.argv[2])) {
  require('node:fs').writeSync(1, `foley ${version}\n`);
} else {
  // Until main settles, an event loop that runs empty is a bug, not a success.
  process.exitCode = 1;
  require('../dist/main.cjs').run(process);
}
