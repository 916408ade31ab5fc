import { Option } from 'commander';
import { keyFailure } from '../../src/api/request.ts';
import type { ServiceAddress } from '../../src/api/request.ts';
import { getProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { findTarget, openClient } from '../../src/cli/connect.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { facts } from '../../src/cli/render/table.ts';
import type { Profile } from '../../src/contract/account.ts';
import type { KeySource } from '../../src/target/resolve.ts';
import { isLocalOnPurpose } from '../../src/target/resolve.ts';

interface StatusFlags {
  readonly check?: true;
}

/** `foley auth status`: which service, and where its key comes from. */
export const authStatus: CommandDefinition<StatusFlags> = {
  configure(command) {
    command
      .description(
        'Shows which service commands talk to and where its API key comes from; never the key. Ends ' +
          'with exit code 4 when there is none.',
      )
      .addOption(new Option('--check', 'also ask the service whether it accepts the key'));
  },
  async run(context, { options }) {
    const target = await findTarget(context);
    if (target.kind === 'hosted') {
      const { address, keySource } = target;
      const profile = options.check === true ? await ask(context, address) : undefined;
      return hostedStatus(address, keySource, profile);
    }
    if (isLocalOnPurpose({ env: context.env, flags: context.globals })) return EMBEDDED;
    throw keyFailure(
      'there is no API key; commands use the embedded service, which needs none',
      'Set FOLEY_API_KEY and FOLEY_BASE_URL, or run `foley auth login --base-url URL`.',
    );
  },
};

const EMBEDDED: CommandResult = {
  data: { target: 'embedded', baseUrl: null, realtimeUrl: null, key: null },
  human: (look) =>
    facts(
      [
        ['service', 'the embedded one, on purpose'],
        ['key', 'none is needed'],
      ],
      look,
    ),
};

async function ask(context: Context, address: ServiceAddress): Promise<Profile> {
  const client = openClient(context, address);
  try {
    return (await getProfile(client, context.signal)).value;
  } finally {
    await client.close();
  }
}

function hostedStatus(
  { baseUrl, realtimeUrl }: ServiceAddress,
  key: KeySource | undefined,
  profile: Profile | undefined,
): CommandResult {
  return {
    data: {
      target: 'hosted',
      baseUrl: baseUrl.href,
      realtimeUrl: realtimeUrl.href,
      key: key ?? null,
      ...(profile === undefined ? {} : { userId: profile.user_id, tier: profile.tier }),
    },
    human: (look) =>
      facts(
        [
          ['service', baseUrl.href],
          ['realtime', realtimeUrl.href],
          ['key', key === undefined ? '' : sourceText(key)],
          [
            'accepted',
            profile === undefined ? '' : `yes, for ${profile.user_id} (${profile.tier})`,
          ],
        ],
        look,
      ),
  };
}

function sourceText({ kind, name }: KeySource): string {
  if (kind === 'account') return `from the stored account "${name}"`;
  return kind === 'file' ? `from --api-key-file ${name}` : `from ${name}`;
}
