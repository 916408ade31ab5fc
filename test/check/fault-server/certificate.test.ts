import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { Agent, ProxyAgent, request } from 'undici';
import {
  expiredCertificate,
  makeCertificate,
  notYetValidCertificate,
  wrongHostCertificate,
} from '../../fault-server/certificate.ts';
import type { Certificate } from '../../fault-server/certificate.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { audio, resetMidBody } from '../../fault-server/catalogue.ts';
import { answer } from '../../fault-server/http-text.ts';
import { tunnelTo } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await tinyAudio();

const trusting = (certificate: Certificate, servername?: string) =>
  new Agent({
    connect: { ca: certificate.certificate, ...(servername === undefined ? {} : { servername }) },
  });

test('a certificate is well formed and signs itself', () => {
  const certificate = new X509Certificate(
    makeCertificate({ hosts: ['a.test', '10.0.0.1'] }).certificate,
  );
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.ca).toBe(true);
  expect(certificate.checkHost('a.test')).toBe('a.test');
  expect(certificate.checkIP('10.0.0.1')).toBe('10.0.0.1');
  expect(certificate.checkHost('b.test')).toBeUndefined();
});

test('a server speaks TLS to who trusts it', async () => {
  const tls = makeCertificate();
  const server = await startFaultServer([{ answer: audio(mp3) }], { tls });
  expect(server.origin).toMatch(/^https:/);
  const { body } = await request(server.origin, { dispatcher: trusting(tls) });
  expect(Buffer.from(await body.arrayBuffer()).equals(mp3.bytes)).toBe(true);
});

test('a reset under TLS is a broken connection', async () => {
  const tls = makeCertificate();
  const server = await startFaultServer([{ answer: resetMidBody(mp3) }], { tls });
  const { body } = await request(server.origin, { dispatcher: trusting(tls) });
  await expect(body.arrayBuffer()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

const refusals = [
  ['an unknown authority', makeCertificate(), false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['an expired certificate', expiredCertificate(), true, 'CERT_HAS_EXPIRED'],
  ['a certificate of tomorrow', notYetValidCertificate(), true, 'CERT_NOT_YET_VALID'],
  ['another’s certificate', wrongHostCertificate(), true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const;

test.each(refusals)(
  '%s is refused before anything is sent',
  async (_name, tls, isTrusted, code) => {
    const server = await startFaultServer([{ optional: true, answer: audio(mp3) }], { tls });
    const dispatcher = isTrusted ? trusting(tls) : new Agent();
    await expect(request(server.origin, { dispatcher })).rejects.toMatchObject({ code });
    expect(server.connections).toBe(1);
    expect(server.requests).toStrictEqual([]);
  },
);

test('a name that is not of this machine is reached through a tunnel', async () => {
  const tls = makeCertificate({ hosts: ['voice.test'] });
  const target = await startFaultServer([{ answer: audio(mp3) }], { tls });
  const proxy = await startFaultServer([
    { method: 'CONNECT', path: 'voice.test:443', answer: [...answer(200), tunnelTo(target.port)] },
  ]);
  const dispatcher = new ProxyAgent({ uri: proxy.origin, requestTls: { ca: tls.certificate } });
  const { body } = await request('https://voice.test/', { dispatcher });
  expect((await body.arrayBuffer()).byteLength).toBe(mp3.bytes.length);
  expect(target.requests[0]?.header('host')).toBe('voice.test');
});
