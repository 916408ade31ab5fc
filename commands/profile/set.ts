import { Option } from 'commander';
import { updateProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { WEBHOOK_URL_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { shownUrl } from './format.ts';

interface ProfileSetFlags {
  readonly webhookUrl: string;
}

/** `foley profile set` (docs/api/account.md). */
export const profileSet: CommandDefinition<ProfileSetFlags> = {
  configure(command) {
    command
      .description('Changes the profile of the account.')
      .addOption(
        new Option('--webhook-url <url>', 'address that the service may notify; empty clears it')
          .argParser(webhookAddress)
          .makeOptionMandatory(),
      );
  },
  async run(context, { options: { webhookUrl } }) {
    const { client, target } = await context.connect();
    const { raw } = await updateProfile(client, { webhookUrl }, context.signal);
    const use = target === 'embedded' ? '; the embedded service keeps it and never calls it' : '';
    context.io.notice(
      webhookUrl === ''
        ? 'the webhook was cleared'
        : `the webhook is ${shownUrl(webhookUrl)}${use}`,
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
      `--webhook-url has a user name or password, which the service would store and show`,
      `Leave it out: ${shownUrl(url.origin + url.pathname)}.`,
    );
  }
  const length = countCodePoints(given);
  if (length > WEBHOOK_URL_MAX_CHARACTERS) {
    throw usageFailure(
      `--webhook-url has ${length} characters; at most ${WEBHOOK_URL_MAX_CHARACTERS} are taken`,
    );
  }
  return given;
}
