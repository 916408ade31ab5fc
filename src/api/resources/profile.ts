import type { Profile, ProfileUpdate } from '../../contract/account.ts';
import type { JsonResponse } from '../response.ts';
import { isRecord } from '../response.ts';
import type { ApiClient } from '../client.ts';
import { jsonBody, safeRequest } from '../request.ts';

/** Returns the id, tier, credits and quota of the account (docs/api/account.md). */
export function getProfile(
  client: ApiClient,
  signal?: AbortSignal,
): Promise<JsonResponse<Profile>> {
  return client.json(safeRequest('getProfile', {}, { signal }), readProfile);
}

/** Updates the profile (docs/api/account.md). The client repeats the request if it fails, which is safe. */
export function updateProfile(
  client: ApiClient,
  update: ProfileUpdate,
  signal?: AbortSignal,
): Promise<JsonResponse<unknown>> {
  const request = safeRequest('updateProfile', {}, { body: jsonBody(update), signal });
  // The API does not document the response, so any JSON is accepted.
  return client.json(request, (body) => body ?? null);
}

function readProfile(body: unknown): Profile | undefined {
  if (!isRecord(body)) return undefined;
  const { user_id, api_quota_remaining, tier, credits } = body;
  const fits =
    typeof user_id === 'string' &&
    typeof api_quota_remaining === 'number' &&
    typeof tier === 'string' &&
    typeof credits === 'number';
  return fits ? { ...body, user_id, api_quota_remaining, tier, credits } : undefined;
}
