import { constants } from 'node:fs';
import { engines } from '../../package.json';
import type { Context } from '../../src/cli/context.ts';
import { ENVIRONMENT } from '../../src/contract/environment.ts';
import { errnoOf } from '../../src/files/errno.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import type { Check, Finding } from './finding.ts';
import { ok, warning } from './finding.ts';

/** The Node.js that runs, and variables that change what it does with secrets and certificates. */
export const nodeCheck: Check = {
  name: 'node',
  async look(context) {
    const needed = engines.node.replace('>=', '');
    const running = `${process.versions.node} on ${context.platform} (${needed} or newer is needed)`;
    return [ok(running), ...tlsFindings(context), ...(await certificateFindings(context))];
  },
};

function tlsFindings({ env }: Context): Finding[] {
  const findings: Finding[] = [];
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    findings.push(
      warning(
        'NODE_TLS_REJECT_UNAUTHORIZED=0 tells programs to trust any certificate; foley does not obey it',
        'Unset it; for a certificate of your own set NODE_EXTRA_CA_CERTS.',
      ),
    );
  }
  if ((env['NODE_DEBUG'] ?? '') !== '') {
    findings.push(
      warning(
        'NODE_DEBUG makes Node.js print what it sends, API keys included',
        'Unset it, above all where output is kept.',
      ),
    );
  }
  return findings;
}

async function certificateFindings({ env, files }: Context): Promise<Finding[]> {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined || file === '') return [];
  try {
    await files.access(file, constants.R_OK);
    return [];
  } catch (error) {
    const why = errnoOf(error) ?? 'unknown';
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${why})`)];
  }
}

/** Variables that look as if they were meant for foley, and are not read by it. */
export const variablesCheck: Check = {
  name: 'variables',
  look: async ({ env }) => {
    const known = Object.keys(ENVIRONMENT);
    const given = Object.keys(env).filter((name) => name.startsWith('FOLEY_'));
    const unknown = given.filter((name) => !known.includes(name));
    if (unknown.length === 0) {
      return [ok(given.length === 0 ? 'none is set' : `set: ${given.join(', ')}`)];
    }
    return unknown.map((name) => {
      const [nearest] = closest(name, known, 1);
      const hint = nearest === undefined ? `foley reads ${known.join(', ')}.` : undefined;
      return warning(
        `${name} is set, and foley does not read it`,
        hint ?? `Did you mean ${nearest}?`,
      );
    });
  },
};
