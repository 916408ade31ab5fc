import { proxyFor } from '../../src/api/proxy.ts';
import { redactUrl } from '../../src/api/redact.ts';
import type { Context } from '../../src/cli/context.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { Check, Finding, Shared } from './finding.ts';
import { ok, problem, warning } from './finding.ts';

const READ = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];
const IGNORED = ['all_proxy', 'ALL_PROXY'];

/** Which proxies the environment names, and whether requests go through one. */
export const proxyCheck: Check = {
  name: 'proxy',
  async look(context, shared) {
    const seen = READ.filter((name) => isSet(context, name));
    const ignored = IGNORED.filter((name) => isSet(context, name)).map((name) =>
      warning(`${name} is set, and foley does not read it`, 'Set HTTPS_PROXY instead.'),
    );
    if (seen.length === 0) return ignored.length > 0 ? ignored : [ok('none is set')];
    return [await inUse(context, shared, seen.join(', ')), ...ignored];
  },
};

async function inUse(context: Context, shared: Shared, seen: string): Promise<Finding> {
  const baseUrl = await hostedUrl(shared);
  const proxy = baseUrl === undefined ? undefined : proxyFor(baseUrl, context.env);
  if (baseUrl === undefined || proxy === undefined) return ok(`${seen} set; no request needs it`);
  if (!URL.canParse(proxy) || !/^https?:/.test(proxy)) {
    return problem(
      `${seen}: what is set is not an http or https address`,
      'Set HTTPS_PROXY to a URL such as http://proxy.example:3128, or unset it.',
    );
  }
  return ok(`${seen} set; requests to ${baseUrl.host} go through ${redactUrl(proxy)}`);
}

/** Why there is none is told by another check. */
async function hostedUrl(shared: Shared): Promise<URL | undefined> {
  try {
    const target = await shared.target();
    return target.kind === 'hosted' ? target.address.baseUrl : undefined;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function isSet({ env }: Context, name: string): boolean {
  return (env[name] ?? '') !== '';
}
