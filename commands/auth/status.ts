import { Option } from 'commander';
import type { ServiceAddress } from '../../src/api/request.ts';
import { keyFailure } from '../../src/api/request.ts';
import { getProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { findTarget, openClient } from '../../src/cli/connect.ts';
import { isLocalOnPurpose } from '../../src/config/target.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import type { KeySource } from '../../src/config/target.ts';
import type { Profile } from '../../src/contract/account.ts';

/** The service that commands use. */
export interface StatusDocument {
  readonly target: 'embedded' | 'hosted';
  readonly baseUrl: string | null;
  readonly realtimeUrl: string | null;
  /** Where the API key comes from; null without a key. */
  readonly key: KeySource | null;
  /** With `--check`: the user of the key. */
  readonly userId?: string;
  /** With `--check`: the tier of the account. */
  readonly tier?: string;
}

interface StatusFlags {
  readonly check?: true;
}

export const definition: CommandDefinition<StatusFlags, StatusDocument> = {
  configure(command) {
    command
      .description(
        'Shows the service that commands use and the source of its API key, never the key itself. Exits ' +
          'with 4 when there is no key.',
      )
      .addOption(new Option('--check', 'also check the key with the service'));
  },
  async run(context, { options }) {
    const target = await findTarget(context);
    if (target.kind === 'hosted') {
      const { address, keySource } = target;
      const profile = options.check === true ? await readProfile(context, address) : undefined;
      return hostedStatus(address, keySource, profile);
    }
    if (isLocalOnPurpose({ env: context.env, flags: context.globals })) return EMBEDDED;
    throw keyFailure(
      'no API key is configured; commands use the embedded service, which needs none',
      'Set FOLEY_API_KEY and FOLEY_BASE_URL, or run `foley auth login --base-url URL`.',
    );
  },
};

const EMBEDDED: CommandResult<StatusDocument> = {
  data: { target: 'embedded', baseUrl: null, realtimeUrl: null, key: null },
  human: (style) =>
    renderFields(Object.entries({ service: 'embedded (requested)', key: 'not needed' }), style),
};

/** Requests the profile of the account, to check that a service accepts the API key. The request is free. */
export async function readProfile(context: Context, address: ServiceAddress): Promise<Profile> {
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
): CommandResult<StatusDocument> {
  const fields = {
    service: baseUrl.href,
    realtime: realtimeUrl.href,
    key: key === undefined ? '' : sourceText(key),
    accepted: profile === undefined ? '' : `yes, for ${profile.user_id} (${profile.tier})`,
  };
  return {
    data: {
      target: 'hosted',
      baseUrl: baseUrl.href,
      realtimeUrl: realtimeUrl.href,
      key: key ?? null,
      ...(profile === undefined ? {} : { userId: profile.user_id, tier: profile.tier }),
    },
    human: (style) => renderFields(Object.entries(fields), style),
  };
}

function sourceText({ kind, name }: KeySource): string {
  if (kind === 'account') return `from the stored account "${name}"`;
  return kind === 'file' ? `from --api-key-file ${name}` : `from ${name}`;
}
