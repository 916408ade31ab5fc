import { Type } from 'typebox';
import type { Static } from 'typebox';
import { WEBHOOK_URL_MAX_CHARACTERS } from './limits.ts';

/** The account's profile (docs/api/account.md); unknown extra fields may appear. */
export const Profile = Type.Object(
  {
    user_id: Type.String(),
    api_quota_remaining: Type.Integer(),
    tier: Type.String(),
    credits: Type.Number(),
    webhookUrl: Type.Optional(
      Type.String({ description: 'Stored and shown; this service never calls it' }),
    ),
  },
  { $id: 'Profile', additionalProperties: true },
);
export type Profile = Static<typeof Profile>;

/** Body of `POST /profile` (docs/api/account.md): the only field that can be changed. */
export const ProfileUpdate = Type.Object(
  {
    webhookUrl: Type.Union([Type.String({ maxLength: WEBHOOK_URL_MAX_CHARACTERS }), Type.Null()], {
      description: 'http or https address without a user name or password; empty or null clears it',
    }),
  },
  { $id: 'ProfileUpdate', additionalProperties: false },
);
export type ProfileUpdate = Static<typeof ProfileUpdate>;
