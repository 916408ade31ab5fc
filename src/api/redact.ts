export interface Redactor {
  /** Masks secrets in a text, and removes user names and query strings from URLs. */
  text(text: string): string;
  /** Masks secrets in JSON data. Unlike `text`, keeps the query strings of URLs. */
  data(value: unknown): unknown;
}

const MASK = '[redacted]';
const SECRET_PARAMETER =
  /sign|token|secret|credential|password|policy|expires|api[-_]?key|^(key|sig|auth)$/i;
// Masking shorter secrets would also mask harmless words.
const SHORTEST_SECRET = 4;

/**
 * Creates a redactor that masks the given secrets, also in percent-encoded or Base64 form. It also masks all `Bearer`
 * and `Basic` credentials.
 */
export function createRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const known = secrets
    .flatMap((secret) =>
      secret === undefined || secret.length < SHORTEST_SECRET
        ? []
        : [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')],
    )
    .sort((a, b) => b.length - a.length);
  const withoutSecrets = (text: string): string => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, MASK);
    return clean.replaceAll(/\b(Bearer|Basic)(?:\s+|%20)[^\s"',;]+/gi, `$1 ${MASK}`);
  };
  return {
    text: (text) =>
      withoutSecrets(text).replaceAll(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, (url) =>
        /[?@]/.test(url) ? redactUrl(url) : url,
      ),
    data: (value) => mapStrings(value, withoutSecrets),
  };
}

/**
 * Removes the user name, password and fragment from a URL, and masks the query string.
 * @param isOurs returns true for a URL of the service. Its query string is kept, unless a parameter is a secret.
 */
export function redactUrl(url: URL | string, isOurs = (_url: URL): boolean => false): string {
  if (typeof url === 'string') return URL.canParse(url) ? redactUrl(new URL(url), isOurs) : MASK;
  // Fast path: most URLs have none of these parts.
  if (!/[?#@]/.test(url.href)) return url.href;
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.hash = '';
  if (shown.search === '') return shown.href;
  const names = [...shown.searchParams.keys()];
  if (isOurs(shown) && !names.some((name) => SECRET_PARAMETER.test(name))) {
    return shown.href;
  }
  shown.search = '';
  return `${shown.href}?${MASK}`;
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [change(name), mapStrings(item, change)]),
  );
}
