import type { Profile } from '../../contract/schemas/profile.ts';
import { ProfileUpdate } from '../../contract/schemas/profile.ts';
import type { AccountState } from '../accounts/accounts.ts';
import { readAccount, setWebhookUrl } from '../accounts/accounts.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { invalidRequest } from '../service-error.ts';
import type { AccountCall, Handler } from './call.ts';

/** `GET /profile` (spec sections 2.9 and 4.9). */
export const getProfile: Handler<AccountCall> = ({ account }, { store }) =>
  profileResponse(store.read((db) => readAccount(db, account)));

/** `POST /profile` (spec section 4.9). The address is stored; this service never calls it. */
export const updateProfile: Handler<AccountCall> = async ({ request, account }, { store }) => {
  const update = requireValid(ProfileUpdate, await readJsonBody(request), 'The body');
  const webhookUrl = requireWebAddress(update.webhookUrl);
  return profileResponse(
    store.write((db) => {
      setWebhookUrl(db, account, webhookUrl);
      return readAccount(db, account);
    }),
  );
};

function requireWebAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href;
  const message = 'webhookUrl is no http or https address';
  throw invalidRequest([{ field: 'webhookUrl', message }]);
}

function profileResponse({ id, tier, available, webhookUrl }: AccountState): Response {
  const body: Profile = {
    user_id: id,
    api_quota_remaining: available.quota,
    tier,
    credits: available.credits,
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
  };
  return Response.json(body);
}
