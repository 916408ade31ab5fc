// Requests to a server with an OpenAI-shaped `/v1/audio/speech`.

import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** A server that sends nothing for this time has failed. foley waits 60 s for a message of an engine. */
const SILENCE_MS = 50_000;

/** Longest message of a server that is repeated to the user. */
const QUOTED_CHARACTERS = 300;

const PRIVATE = new BlockList();
for (const [address, bits] of /** @type {const} */ ([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
])) {
  PRIVATE.addSubnet(address, bits, 'ipv4');
}
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

const AGENTS = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};

/**
 * What went wrong with a server. `refused`: the server answers, but not to this request. `silent`: it sent audio without
 * sound. `broken`: the server is left out for a while.
 */
export class ServerError extends Error {
  /**
   * @param {string} message
   * @param {'broken' | 'refused' | 'silent'} kind
   * @param {number} [retryAfterMs] how long the server asked to wait
   */
  constructor(message, kind, retryAfterMs) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * @typedef {{ readonly headers: http.IncomingHttpHeaders, readonly body: Buffer }} Answer
 * @typedef {object} Call
 * @property {string | undefined} key the bearer token
 * @property {AbortSignal} signal
 * @property {number} maxBytes
 * @property {object} [json] the body of a POST; without it, the request is a GET
 */

/**
 * Sends a request, and returns the whole body of a successful answer. Follows no redirect, and sends nothing over http
 * to addresses outside of private networks.
 * @param {URL} url
 * @param {Call} call
 * @returns {Promise<Answer>}
 * @throws {ServerError}; on abort, the abort reason
 */
export async function ask(url, { json, key, maxBytes, signal }) {
  signal.throwIfAborted();
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  const {
    body: answer,
    headers,
    status,
  } = await exchange(
    url,
    {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: body === undefined ? 'application/json' : 'audio/wav, */*;q=0.5',
        'accept-encoding': 'identity',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': body.length,
        }),
      },
      signal,
    },
    body,
    maxBytes,
  ).catch((/** @type {unknown} */ error) => {
    signal.throwIfAborted();
    if (error instanceof ServerError) throw error;
    throw new ServerError(`${url.origin} does not answer (${reasonOf(error)})`, 'broken');
  });
  if (status >= 300 && status < 400) {
    throw new ServerError(
      `${url.origin} redirects to ${headers.location ?? 'another place'}: foley follows no redirects; name that URL instead`,
      'broken',
    );
  }
  if (status !== 200) throw failedAnswer(url, status, headers, answer);
  return { headers, body: answer };
}

/**
 * @param {URL} url
 * @param {http.RequestOptions} options
 * @param {Buffer | undefined} sent
 * @param {number} maxBytes
 * @returns {Promise<Answer & { readonly status: number }>}
 */
function exchange(url, options, sent, maxBytes) {
  const isPlain = url.protocol === 'http:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isPlain && isIP(host) !== 0 && !isPrivate(host)) return Promise.reject(notPrivate(url));
  const { request } = isPlain ? http : https;
  return new Promise((resolve, reject) => {
    const call = request(url, {
      ...options,
      agent: AGENTS[isPlain ? 'http:' : 'https:'],
      ...(isPlain && { lookup: privateLookup(url) }),
    });
    call.setTimeout(SILENCE_MS, () =>
      call.destroy(
        new ServerError(`${url.origin} sent nothing for ${SILENCE_MS / 1000} s`, 'broken'),
      ),
    );
    call.on('error', reject);
    call.on('response', (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      let bytes = 0;
      response.on('data', (/** @type {Buffer} */ chunk) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > maxBytes) {
          call.destroy(new ServerError(`${url.origin} sent more than ${maxBytes} bytes`, 'broken'));
        }
      });
      response.on('error', reject);
      response.on('aborted', () =>
        reject(new ServerError(`${url.origin} cut its answer off after ${bytes} bytes`, 'broken')),
      );
      response.on('end', () => {
        const { headers, statusCode: status = 0 } = response;
        resolve({ status, headers, body: Buffer.concat(chunks) });
      });
    });
    call.end(sent);
  });
}

/** @param {string} address */
function isPrivate(address) {
  return PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** @param {URL} url */
function notPrivate({ origin }) {
  return new ServerError(`${origin} is not in a private network: use https`, 'broken');
}

/**
 * Resolves the name of a server once, and refuses public addresses.
 * @param {URL} url
 * @returns {import('node:net').LookupFunction}
 */
function privateLookup(url) {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '');
      if (!addresses.every(({ address }) => isPrivate(address))) return done(notPrivate(url), '');
      if (options.all === true) return done(null, addresses);
      const [first] = addresses;
      done(null, first?.address ?? '', first?.family);
    });
  };
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}

/**
 * @param {URL} url
 * @param {number} status
 * @param {http.IncomingHttpHeaders} headers
 * @param {Buffer} body
 */
function failedAnswer(url, status, headers, body) {
  const isBroken = status >= 500 || status === 429 || status === 408;
  const words = wordsOf(body, headers);
  const seconds = Number(headers['retry-after']);
  return new ServerError(
    `${url.origin} answered ${status}${words === '' ? '' : `: ${words}`}`,
    isBroken ? 'broken' : 'refused',
    Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
  );
}

/**
 * Returns the message of an error body: `{error: {message}}`, `{error}`, `{detail}`, `{message}` or plain text.
 * @param {Buffer} body
 * @param {http.IncomingHttpHeaders} headers
 */
function wordsOf(body, headers) {
  const text = body.toString('utf8').trim();
  if (isPage(body, headers)) return 'an HTML page';
  return short(messageIn(parsed(text)) ?? text);
}

/** @param {string} text */
export function parsed(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/**
 * @param {unknown} value
 * @returns {string | undefined}
 */
function messageIn(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of ['error', 'detail', 'message', 'msg']) {
    const found =
      name in value ? messageIn(/** @type {Record<string, unknown>} */ (value)[name]) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {string} text */
function short(text) {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ');
  return line.length <= QUOTED_CHARACTERS ? line : `${line.slice(0, QUOTED_CHARACTERS)}…`;
}

/**
 * @param {Buffer} body
 * @param {http.IncomingHttpHeaders} headers
 */
export function isPage(body, headers) {
  const start = body.subarray(0, 64).toString('latin1').trimStart().toLowerCase();
  return (
    start.startsWith('<!doctype') ||
    start.startsWith('<html') ||
    (headers['content-type'] ?? '').startsWith('text/html')
  );
}
