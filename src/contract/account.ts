import { Type } from 'typebox';
import type { Static } from 'typebox';
import { QuotaRemaining, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import { ErrorBody } from './error-body.ts';
import { WEBHOOK_URL_MAX_CHARACTERS } from './limits.ts';

/** The account's profile (docs/api/account.md). The profile may contain additional fields. */
export const Profile = Type.Object(
  {
    user_id: Type.String({ description: 'Account id' }),
    api_quota_remaining: QuotaRemaining,
    tier: Type.String({ description: 'Service tier of the account' }),
    credits: Type.Number({ description: 'Credits that the account has left' }),
    webhookUrl: Type.Optional(
      Type.String({ description: 'Stored webhook URL, which the embedded service never calls' }),
    ),
  },
  { $id: 'Profile', additionalProperties: true },
);
export type Profile = Static<typeof Profile>;

export const ProfileUpdate = strict('ProfileUpdate', {
  webhookUrl: Type.Union([Type.String({ maxLength: WEBHOOK_URL_MAX_CHARACTERS }), Type.Null()], {
    description:
      'Webhook URL: http or https, no user name or password (empty or null clears the URL)',
  }),
});
export type ProfileUpdate = Static<typeof ProfileUpdate>;

/** The endpoints that return the OpenAPI document (docs/api/account.md). */
export const DOCUMENT_ENDPOINTS = [
  {
    id: 'getOpenApi',
    method: 'GET',
    path: '/api/open/v3/openapi.json',
    public: true,
    section: 'account',
    summary: 'Get the OpenAPI document',
  },
  {
    id: 'getOpenApiV1',
    method: 'GET',
    path: '/api/openapi.json',
    section: 'account',
    summary: 'Get the OpenAPI document (older path)',
  },
] as const satisfies readonly Endpoint[];

export const ACCOUNT_ENDPOINTS = [
  {
    id: 'getProfile',
    method: 'GET',
    path: '/api/open/v1/profile',
    section: 'account#profile',
    summary: 'Get the account, credits and quota',
    success: Profile,
  },
  {
    id: 'updateProfile',
    method: 'POST',
    path: '/api/open/v1/profile',
    section: 'account#profile',
    summary: 'Set or clear the webhook URL',
    body: ProfileUpdate,
    success: Profile,
    errors: BODY_ERRORS,
  },
] as const satisfies readonly Endpoint[];

export const SERVICE_ENDPOINTS = [
  {
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    public: true,
    section: 'ours',
    summary: 'Check whether the service responds',
  },
  {
    id: 'getRequestError',
    method: 'GET',
    path: '/api/open/requests/{requestId}/error',
    section: 'ours',
    summary: 'Get the error that ended a response early',
    success: ErrorBody,
    errors: ['ERR_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
