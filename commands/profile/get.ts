import { getProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import { counted } from '../../src/text/display.ts';
import { safeUrl } from './webhook-url.ts';

/** Defines the command `foley profile` (docs/api/account.md). */
export const definition: CommandDefinition = {
  configure(command) {
    command.description('Shows the account of the API key: id, tier, credits and API quota left.');
  },
  async run(context) {
    const { client } = await context.connect();
    const { value, raw } = await getProfile(client, context.signal);
    const { api_quota_remaining: quota, credits, tier, user_id: id, webhookUrl } = value;
    const fields = {
      id,
      tier,
      credits: counted(credits, 'credit'),
      'API quota left': counted(quota, 'unit'),
      webhook: typeof webhookUrl === 'string' ? safeUrl(webhookUrl) : '',
    };
    return { data: raw, human: (style) => renderFields(Object.entries(fields), style) };
  },
};
