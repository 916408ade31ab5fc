#!/usr/bin/env node
'use strict';
// Plain CommonJS on purpose: it must run on any Node to say that the Node is too old, and it
// answers --version and --help before anything is loaded (docs/decisions/0001-bundle.md).
const { version, engines } = part('../package.json');

/** A file of the package; without it there is no foley, and the process ends. */
function part(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND' || !error.message.includes(name)) throw error;
    process.stderr.write(
      `foley: ${name} is missing beside ${__filename}: this file works only inside its package\n` +
        'Install the package with `npm install -g`, or make a link to this file instead of a copy.\n',
    );
    return process.exit(32);
  }
}

function isTooOld(running, oldest) {
  const difference = oldest
    .map((number, index) => running[index] - number)
    .find((value) => value !== 0);
  return difference < 0;
}

/** The text that the words ask for and that the build wrote down; undefined for anything else. */
function writtenDown(words) {
  if (words.length === 1 && /^(-V|--version)$/.test(words[0])) return `foley ${version}\n`;
  const asksLast = words.length > 0 && /^(-h|--help)$/.test(words[words.length - 1]);
  const path = words[0] === 'help' ? words.slice(1) : words.slice(0, -1);
  if (words.length > 0 && words[0] !== 'help' && !asksLast) return undefined;
  const help = part('../dist/help.json');
  const name = words.length === 0 ? '(alone)' : path.join(' ');
  return Object.prototype.hasOwnProperty.call(help, name) ? help[name] : undefined;
}

function main() {
  const oldest = engines.node.replace('>=', '').split('.').map(Number);
  if (isTooOld(process.versions.node.split('.').map(Number), oldest)) {
    process.stderr.write(
      `foley: needs Node ${oldest.join('.')} or newer; this is ${process.versions.node}. Install a newer Node and try again.\n`,
    );
    process.exitCode = 2;
    return;
  }
  // Until main settles, an event loop that runs empty is a bug, not a success.
  process.exitCode = 1;
  const words = process.argv.slice(2);
  if (words[0] === '__complete') {
    part('../dist/complete.cjs').complete(words.slice(1), process).then(show);
    return;
  }
  const text = writtenDown(words);
  if (text === undefined) part('../dist/launch.cjs').launch(process);
  else show(text);
}

/** Writes at once where that is possible; the stream of the process costs a tenth of a start. */
function show(text) {
  const { writeSync } = require('node:fs');
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    process.exitCode = 0;
  } catch (error) {
    if (error.code === 'EAGAIN') process.stdout.write(rest, conclude);
    else if (error.code === 'EPIPE' || rest.length < Buffer.byteLength(text)) conclude(error);
    // The program meets the same, and has the words for it.
    else part('../dist/launch.cjs').launch(process);
  }
}

function conclude(error) {
  process.exitCode = !error || error.code === 'EPIPE' ? 0 : 30;
  if (process.exitCode !== 0) {
    const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.code;
    const hint = 'Write to another place, or fix the target of stdout.';
    process.stderr.write(`foley: cannot write to stdout: ${reason}\n${hint}\n`);
  }
}

main();
