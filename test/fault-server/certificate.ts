import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Both in PEM. The certificate signs itself, so it is its own authority. */
export interface Certificate {
  readonly key: string;
  readonly certificate: string;
}

export interface CertificateOptions {
  /** Names and IPv4 addresses; by default those of this machine. */
  readonly hosts?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));

/**
 * Makes a fresh self-signed certificate. A client accepts it once its file is trusted
 * (`NODE_EXTRA_CA_CERTS`), and not otherwise: that is the unknown authority.
 */
export function makeCertificate(options: CertificateOptions = {}): Certificate {
  const hosts = options.hosts ?? ['localhost', '127.0.0.1'];
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(objectId('2.5.4.3'), text('fault server'))));
  const now = Date.now();
  const content = sequence(
    tagged(0, integer(Buffer.from([2])), true),
    integer(Buffer.concat([Buffer.from([0x4d]), randomBytes(7)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(
      time(options.notBefore ?? new Date(now - DAY_MS)),
      time(options.notAfter ?? new Date(now + DAY_MS)),
    ),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(authority(), alternativeNames(hosts)), true),
  );
  const signature = bitString(sign('sha256', content, privateKey));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: pem(sequence(content, ECDSA_WITH_SHA256, signature)),
  };
}

/** A certificate that was good until yesterday. */
export function expiredCertificate(): Certificate {
  const now = Date.now();
  return makeCertificate({
    notBefore: new Date(now - 3 * DAY_MS),
    notAfter: new Date(now - DAY_MS),
  });
}

/** A certificate that is good from tomorrow on. */
export function notYetValidCertificate(): Certificate {
  const now = Date.now();
  return makeCertificate({
    notBefore: new Date(now + DAY_MS),
    notAfter: new Date(now + 3 * DAY_MS),
  });
}

/** A certificate for another host. */
export function wrongHostCertificate(): Certificate {
  return makeCertificate({ hosts: ['somewhere-else.test'] });
}

function authority(): Buffer {
  return sequence(objectId('2.5.29.19'), boolean(true), octetString(sequence(boolean(true))));
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host)
      ? tagged(7, Buffer.from(host.split('.').map(Number)), false)
      : tagged(2, Buffer.from(host), false),
  );
  return sequence(objectId('2.5.29.17'), octetString(sequence(...names)));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines.trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return element(0x31, Buffer.concat(parts));
}

/** A positive integer, from its bytes. */
function integer(bytes: Buffer): Buffer {
  const [first = 0] = bytes;
  return element(0x02, first >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

/** An object identifier such as `2.5.4.3`. */
function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap((arc) => base128(arc))]));
}

function text(value: string): Buffer {
  return element(0x0c, Buffer.from(value));
}

/** Seconds precision, for the years up to 2049. */
function time(value: Date): Buffer {
  const digits = value.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

function bitString(bytes: Buffer): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function octetString(bytes: Buffer): Buffer {
  return element(0x04, bytes);
}

/** A tag of its context: `[number]`. */
function tagged(number: number, bytes: Buffer, isConstructed: boolean): Buffer {
  return element((isConstructed ? 0xa0 : 0x80) | number, bytes);
}

function element(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(count: number): number[] {
  if (count < 0x80) {
    return [count];
  }
  return count < 0x100 ? [0x81, count] : [0x82, count >> 8, count & 0xff];
}

function base128(arc: number): number[] {
  const high = arc >> 7;
  return high === 0 ? [arc & 0x7f] : [...base128(high).map((byte) => byte | 0x80), arc & 0x7f];
}
