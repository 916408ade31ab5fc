/** How an attempt to get an answer went wrong, below HTTP. */
export type Fault =
  // before anything was sent
  | 'name_unknown'
  | 'name_unavailable'
  | 'refused'
  | 'connect_timeout'
  | 'certificate'
  | 'proxy'
  | 'unreachable'
  // sent in part only
  | 'upload_reset'
  | 'upload_timeout'
  // sent, and no answer began
  | 'reset'
  | 'timeout'
  // an answer began
  | 'protocol'
  | 'cut'
  | 'idle'
  | 'surplus';

const UNSENT = new Set<Fault>([
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

/** A fault of the connection, told apart by what is known of the request's fate. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;
  /** `host:port` that was called. */
  readonly host: string;
  /** The system's or TLS library's own code, such as `CERT_HAS_EXPIRED`. */
  readonly systemCode: string | undefined;
  /** `host:port` of the proxy that was to carry the connection. */
  readonly proxy: string | undefined;

  constructor(fault: Fault, host: string, cause?: unknown, proxy?: string) {
    super(`${fault}: ${host}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.host = host;
    this.systemCode = codeOf(cause);
    this.proxy = proxy;
  }

  /** Whether it is certain that the service never saw the whole request. */
  get unsent(): boolean {
    return UNSENT.has(this.fault);
  }

  /** Whether the request was sent and no answer began. */
  get unanswered(): boolean {
    return UNANSWERED.has(this.fault);
  }
}

/** A proxy answered CONNECT with anything but 200. */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super(`the proxy answers ${status}`);
    this.status = status;
  }
}

/** The fault of a connection that failed before it was in use for the request. */
export function connectFault(error: unknown, throughProxy: boolean): Fault {
  const code = codeOf(error) ?? '';
  if (code === 'ENOTFOUND') return 'name_unknown';
  if (code === 'EAI_AGAIN') return 'name_unavailable';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'connect_timeout';
  if (isCertificateCode(code)) return 'certificate';
  return throughProxy ? 'proxy' : 'unreachable';
}

/** What an error after the request was written and before the answer's headers means. */
export function answerFault(error: Error): Fault {
  return isParserError(error) ? 'protocol' : 'reset';
}

/** Whether the parser says that the bytes are not HTTP. */
export function isParserError(error: Error): boolean {
  return codeOf(error)?.startsWith('HPE_') === true;
}

/** Errors of TLS itself: certificates, names in them, and an other side that does not speak it. */
export function isCertificateCode(code: string): boolean {
  return (
    /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$/.test(code) ||
    code === 'EPROTO' ||
    code === 'UND_ERR_PRX_TLS'
  );
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
