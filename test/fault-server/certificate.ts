import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import {
  bitString,
  boolean,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  tagged,
  text,
  time,
} from './der.ts';

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
