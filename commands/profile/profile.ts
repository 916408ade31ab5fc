import { getProfile, updateProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { Option } from 'commander';
import { WEBHOOK_URL_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { redactUrl } from '../../src/api/redact.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import type { TerminalStyle } from '../../src/cli/render/style.ts';
import type { Profile } from '../../src/contract/account.ts';

/** `foley profile` (docs/api/account.md). */
export const profileGet: CommandDefinition = {
  configure(command) {
    command.description('Shows the account of the API key: id, tier, credits and remaining quota.');
  },
  async run(context) {
    const { client } = await context.connect();
    const { value, raw } = await getProfile(client, context.signal);
    return { data: raw, human: (style) => renderProfile(value, style) };
  },
};

interface ProfileSetFlags {
  readonly webhookUrl: string;
}

/** `foley profile set` (docs/api/account.md). */
export const profileSet: CommandDefinition<ProfileSetFlags> = {
  configure(command) {
    command
      .description('Changes the profile of the account.')
      .addOption(
        new Option('--webhook-url <url>', 'URL that the service notifies; empty clears it')
          .argParser(webhookAddress)
          .makeOptionMandatory(),
      );
  },
  async run(context, { options: { webhookUrl } }) {
    const { client, target } = await context.connect();
    const { raw } = await updateProfile(client, { webhookUrl }, context.signal);
    const use = target === 'embedded' ? '; the embedded service stores it, but never calls it' : '';
    context.io.notice(
      webhookUrl === '' ? 'cleared the webhook' : `the webhook is ${safeUrl(webhookUrl)}${use}`,
    );
    return { data: raw };
  },
};

/** An http or https address, unchanged; empty to clear it. */
function webhookAddress(given: string): string {
  if (given === '') return given;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === undefined || !isWeb || /\s/.test(given)) {
    throw usageFailure(
      `--webhook-url is "${given}"; it takes an http or https address`,
      'Such as https://example.com/foley-events.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(
      `--webhook-url contains a user name or password, which the service would store and show`,
      `Leave it out: ${safeUrl(url.origin + url.pathname)}.`,
    );
  }
  const length = countCodePoints(given);
  if (length > WEBHOOK_URL_MAX_CHARACTERS) {
    throw usageFailure(
      `--webhook-url has ${length} characters; at most ${WEBHOOK_URL_MAX_CHARACTERS} are allowed`,
    );
  }
  return given;
}

/** What a profile says, for a person. */
export function renderProfile(profile: Profile, style: TerminalStyle): string {
  const { api_quota_remaining: quota, credits, tier, user_id: id, webhookUrl } = profile;
  return renderFields(
    [
      ['id', id],
      ['tier', tier],
      ['credits', `${credits}`],
      ['quota left', `${quota}`],
      ['webhook', typeof webhookUrl === 'string' ? safeUrl(webhookUrl) : ''],
    ],
    style,
  );
}

/** Without its query, which may hold a secret. */
export function safeUrl(url: string): string {
  return URL.canParse(url) ? redactUrl(url) : url;
}
