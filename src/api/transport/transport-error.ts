export const CONNECT_TIMEOUT_MS = 10_000;

/** The reasons why a request can end without a complete response. */
export type Fault =
  // Nothing was sent:
  | 'name_unknown'
  | 'closed'
  | 'name_unavailable'
  | 'refused'
  | 'connect_timeout'
  | 'certificate'
  | 'proxy'
  | 'unreachable'
  // Only a part of the request was sent:
  | 'upload_reset'
  | 'upload_timeout'
  // The request was sent, and no response began:
  | 'reset'
  | 'timeout'
  // A response began:
  | 'protocol'
  | 'cut'
  | 'idle'
  | 'surplus';

const UNSENT = new Set<Fault>([
  'closed',
  'name_unknown',
  'name_unavailable',
  'refused',
  'connect_timeout',
  'certificate',
  'proxy',
  'unreachable',
  'upload_reset',
  'upload_timeout',
]);
const UNANSWERED = new Set<Fault>(['reset', 'timeout']);

/** An error of an HTTP exchange. The fault shows how much of the request the service may have received. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;
  /** `host:port` of the service. */
  readonly host: string;
  /** The code of the system or TLS library, such as `CERT_HAS_EXPIRED`. */
  readonly systemCode: string | undefined;
  /** `host:port` of the proxy; undefined for a direct connection. */
  readonly proxy: string | undefined;

  constructor(fault: Fault, host: string, cause?: unknown, proxy?: string) {
    super(`${fault}: ${host}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.host = host;
    const code = codeOf(cause);
    this.systemCode = code?.startsWith('UND_ERR_') === true ? undefined : code;
    this.proxy = proxy;
  }

  /** True if the service certainly did not receive the whole request. */
  get unsent(): boolean {
    return UNSENT.has(this.fault);
  }

  /** True if the whole request was sent but no response began. */
  get unanswered(): boolean {
    return UNANSWERED.has(this.fault);
  }
}

/** The response of a proxy that refused to open a tunnel (`CONNECT`). */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super(`the proxy returned ${status}`);
    this.status = status;
  }
}

/** Returns the fault that describes an error while opening a connection. */
export function connectFault(error: unknown, throughProxy: boolean): Fault {
  const code = codeOf(error) ?? '';
  if (code === 'ENOTFOUND') return 'name_unknown';
  if (code === 'EAI_AGAIN') return 'name_unavailable';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'connect_timeout';
  if (isCertificateCode(code)) return 'certificate';
  return throughProxy ? 'proxy' : 'unreachable';
}

/** Returns true for an error of undici's HTTP parser, which has no code. The parser reports invalid bytes. */
export function isParserError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

/** Returns true if an error code comes from TLS, for example because the certificate names another host. */
export function isCertificateCode(code: string): boolean {
  return (
    /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$/.test(code) ||
    code === 'EPROTO' ||
    code === 'UND_ERR_PRX_TLS'
  );
}

/** Returns the code of a system error, or of an error of a library. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
