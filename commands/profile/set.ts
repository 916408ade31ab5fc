import { Option } from 'commander';
import { updateProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { safeUrl, webhookAddress } from './webhook-url.ts';

interface ProfileSetFlags {
  readonly webhookUrl: string;
}

/** Defines the command `foley profile set` (docs/api/account.md). */
export const definition: CommandDefinition<ProfileSetFlags> = {
  configure(command) {
    command
      .description('Changes the profile of the account.')
      .addOption(
        new Option(
          '--webhook-url <url>',
          'URL that the service notifies; empty clears it (required)',
        )
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
