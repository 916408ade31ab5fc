/** No honest service asks for more; beyond it dates stop making sense. */
const MOST_SECONDS = 10 * 365 * 24 * 3_600;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds, or an HTTP date, which is
 * taken against the answer's own `Date` so that a wrong clock here does no harm. What has passed is
 * 0; what is neither form is `undefined`.
 * @param now milliseconds since the epoch, for an answer without `Date`
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const given = retryAfter.trim();
  if (/^\d+(\.\d+)?$/.test(given)) return Math.min(Number(given), MOST_SECONDS) * 1_000;
  const until = parseHttpDate(given);
  if (until === undefined) return undefined;
  const from = (date === undefined ? undefined : parseHttpDate(date.trim())) ?? now;
  return Math.min(Math.max(until - from, 0), MOST_SECONDS * 1_000);
}

/** The preferred form of RFC 9110 and the two old ones; all of them are in GMT. */
const HTTP_DATES = [
  /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined;
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
