import { redactUrl } from '../../src/api/redact.ts';
import { facts } from '../../src/cli/render/table.ts';
import type { Look } from '../../src/cli/render/style.ts';
import type { Profile } from '../../src/contract/account.ts';

/** What a profile says, for a person. */
export function profileFacts(profile: Profile, look: Look): string {
  const { api_quota_remaining: quota, credits, tier, user_id: id, webhookUrl } = profile;
  return facts(
    [
      ['id', id],
      ['tier', tier],
      ['credits', `${credits}`],
      ['quota left', `${quota}`],
      ['webhook', typeof webhookUrl === 'string' ? shownUrl(webhookUrl) : ''],
    ],
    look,
  );
}

/** Without its query, which may hold a secret. */
export function shownUrl(url: string): string {
  return URL.canParse(url) ? redactUrl(url) : url;
}
