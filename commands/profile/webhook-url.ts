import { redactUrl } from '../../src/api/redact.ts';
import { WEBHOOK_URL_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { countCodePoints } from '../../src/text/code-points.ts';

/**
 * Parses the value of `--webhook-url`: an `http` or `https` URL, or an empty string to delete the stored URL.
 * @throws Failure of kind `usage`
 */
export function webhookAddress(given: string): string {
  if (given === '') return given;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === undefined || !isWeb || /\s/.test(given)) {
    throw usageFailure(
      `--webhook-url is "${given}"; it takes an http or https address`,
      'Give a URL such as https://example.com/foley-events.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(
      `--webhook-url contains a user name or password, which the service would store and show`,
      `Leave it out: ${safeUrl(url.origin + url.pathname)}.`,
    );
  }
  const length = countCodePoints(given);
  if (length > WEBHOOK_URL_MAX_CHARACTERS) {
    throw usageFailure(
      `--webhook-url has ${length} characters; at most ${WEBHOOK_URL_MAX_CHARACTERS} are allowed`,
    );
  }
  return given;
}

/** Returns a URL without its query, which may contain a secret. */
export function safeUrl(url: string): string {
  return URL.canParse(url) ? redactUrl(url) : url;
}
