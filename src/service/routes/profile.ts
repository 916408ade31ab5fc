import type { Profile } from '../../contract/schemas/profile.ts';
import { ProfileUpdate } from '../../contract/schemas/profile.ts';
import type { AccountState } from '../accounts/accounts.ts';
import { readAccount, setWebhookUrl } from '../accounts/accounts.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import type { ServiceError } from '../service-error.ts';
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

/** @returns the address; `undefined` to clear it */
function requireWebAddress(given: string | null): string | undefined {
  if (given === null || given === '') return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw refusedWebhook('is no http or https address');
  }
  if (url.username !== '' || url.password !== '') {
    throw refusedWebhook('has a user name or password, which would be stored and shown');
  }
  return url.href;
}

function refusedWebhook(problem: string): ServiceError {
  const allowed = 'allowed is an address such as https://example.com/events, or null to clear it';
  return invalidRequest([{ field: 'webhookUrl', message: `webhookUrl ${problem}; ${allowed}` }]);
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
