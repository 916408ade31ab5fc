// A reporter for vitest: writes down what failed, so that `npm test` can tell it once more as its last
// words. Among thousands of lines nobody finds it, and a log that is cut short has lost it.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './set-up.mjs';

/** How much of an error's message is told again. */
const MESSAGE_LINES = 12;

/** The file that the list of failures is added to. */
export const failedTestsFile = path.join(root, 'node_modules', '.failed-tests.log');

export default class FailedTests {
  onTestRunEnd(modules, unhandledErrors) {
    for (const module of modules) {
      tell(module.moduleId, module.errors());
      for (const test of module.children.allTests('failed')) {
        tell(`${module.moduleId} > ${test.fullName}`, test.result().errors);
      }
    }
    tell('outside of any test', unhandledErrors);
  }
}

function tell(where, errors) {
  for (const error of errors) {
    const words = [error.message, error.cause?.message, error.stack].filter(Boolean).join('\n');
    const lines = words.split('\n').slice(0, MESSAGE_LINES);
    appendFileSync(failedTestsFile, `${path.relative(root, where)}\n    ${lines.join('\n    ')}\n`);
  }
}
