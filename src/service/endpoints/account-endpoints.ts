import type { Capabilities } from '../../contract/models.ts';
import type { Profile } from '../../contract/account.ts';
import type { ErrorBody } from '../../contract/error-body.ts';
import type { AccountState } from '../ledger/accounts.ts';
import { readAccount, setWebhookUrl } from '../ledger/accounts.ts';
import type { Handler } from './call.ts';
import { invalidRequest, ServiceError, speechFailureMessage } from '../service-error.ts';
import { modelRecord } from '../voices/catalogue.ts';

/** Handles `GET /profile` (docs/api/account.md). */
export const getProfile: Handler<'getProfile'> = ({ account }, { store }) =>
  profileResponse(store.read((db) => readAccount(db, account)));

/** Handles `POST /profile` (docs/api/account.md). Stores the webhook URL, which the service never calls. */
export const updateProfile: Handler<'updateProfile'> = ({ account, body }, { store }) => {
  const webhookUrl = requireWebAddress(body.webhookUrl);
  return profileResponse(
    store.write((db) => {
      setWebhookUrl(db, account, webhookUrl);
      return readAccount(db, account);
    }),
  );
};

function requireWebAddress(given: string | null): string | undefined {
  if (given === null || given === '') return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw refusedWebhook('is not an http or https address');
  }
  if (url.username !== '' || url.password !== '') {
    throw refusedWebhook('has a user name or password, which would be stored and shown');
  }
  return url.href;
}

function refusedWebhook(problem: string): ServiceError {
  const message = `webhookUrl ${problem}; allowed: an address such as https://example.com/events, or null to clear it`;
  return invalidRequest([{ field: 'webhookUrl', message }]);
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

// Newest version of the HTTP speech API that this service implements (docs/api/versions.md).
const CONTRACT_VERSION = 'v3';

/** Handles `GET /speech/tts/capabilities` (docs/api/models.md). */
export const getCapabilities: Handler<'getCapabilities'> = (_call, { catalogue }) => {
  const body: Capabilities = {
    contractVersion: CONTRACT_VERSION,
    route: '/api/open/v3/speech/tts',
    models: catalogue.models.map((model) => modelRecord(model, catalogue.isAvailable(model.id))),
  };
  return Response.json(body);
};

/** Handles `GET /healthz`: responds as long as the service is running. */
export const getHealth: Handler<'getHealth'> = () => Response.json({ status: 'ok' });

/**
 * Handles `GET /requests/{requestId}/error` (docs/service.md). Returns why a request was refunded. The id is the request
 * id or the idempotency key.
 */
export const getRequestError: Handler<'getRequestError'> = (call, { operations }) => {
  const { requestId } = call.parameters;
  const failure = operations.failureOf(call.account, requestId);
  if (failure === undefined) {
    throw new ServiceError('ERR_NOT_FOUND', 'No request with this id has failed');
  }
  const { code, message } =
    failure instanceof ServiceError
      ? failure
      : new ServiceError('ERR_GENERATION_FAILED', speechFailureMessage(failure));
  const body: ErrorBody = { code, message, requestId };
  return Response.json(body);
};

/** Handles `GET /openapi.json` (docs/api/speech.md#v3). The document is generated from the endpoint definitions. */
export const getOpenApi: Handler<'getOpenApi'> = async () => {
  const { openApiDocument } = await import('../openapi/document.ts');
  return Response.json(openApiDocument());
};
