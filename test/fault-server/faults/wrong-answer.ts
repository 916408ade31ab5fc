import { answer, head } from '../http-text.ts';
import { fin, repeat, write } from '../steps.ts';
import type { Step } from '../steps.ts';
import type { Payload } from '../tiny-audio.ts';

/** Answers whose framing is right and whose content is not. */

/** A good answer, for the place after a fault. */
export function audio(payload: Payload): Step[] {
  return answer(200, { 'Content-Type': payload.type, ...payload.headers }, payload.bytes);
}

/** 200 with JSON where audio belongs: by default an error of the service with a status of success. */
export function jsonInsteadOfAudio(
  body: unknown = { code: 'ERR_INTERNAL', message: 'Generation failed.', requestId: 'r-json' },
): Step[] {
  return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
}

/** Says that it is audio and is text. */
export function wrongMagic(type = 'audio/mpeg'): Step[] {
  return answer(200, { 'Content-Type': type }, 'This is not audio, whatever the header says.');
}

/** Good audio that is called something else. */
export function wrongType(payload: Payload, type = 'text/plain'): Step[] {
  return audio({ ...payload, type });
}

/** Good audio without a content type. */
export function withoutType(payload: Payload): Step[] {
  return answer(200, { ...payload.headers }, payload.bytes);
}

/** 200 audio of no bytes. */
export function emptyBody(type = 'audio/mpeg'): Step[] {
  return answer(200, { 'Content-Type': type });
}

/** 204, which has no body. */
export function noContent(): Step[] {
  return [head(204)];
}

/** 206 to a request that asked for no range. */
export function partialContent(payload: Payload): Step[] {
  const { length } = payload.bytes;
  const range = { 'Content-Range': `bytes 0-${length - 1}/${length * 2}` };
  return answer(206, { 'Content-Type': payload.type, ...range }, payload.bytes);
}

/** The log-in page that a hotel's network puts in front of everything. */
export function captivePortal(): Step[] {
  const page = '<!DOCTYPE html><title>Welcome</title><p>Accept our terms to go online.</p>';
  return answer(200, { 'Content-Type': 'text/html; charset=utf-8' }, page);
}

/** Something that does not speak HTTP. */
export function notHttp(): Step[] {
  return [write('SSH-2.0-OpenSSH_9.2p1\r\n'), fin()];
}

/** A JSON document that stops in the middle, with a true length. */
export function cutJson(status = 200): Step[] {
  return answer(status, { 'Content-Type': 'application/json' }, '{"items":[{"voiceId":"');
}

/** A JSON document of so many bytes that is made while it is sent. */
export function hugeJson(bytes: number, status = 200): Step[] {
  const [before, unit, after] = ['{"items":["', 'x'.repeat(65_536), '"]}'];
  const times = Math.ceil(bytes / unit.length);
  const length = before.length + unit.length * times + after.length;
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(length) };
  return [head(status, headers), write(before), repeat(unit, times), write(after)];
}

/** JSON arrays in arrays, so deep that a careless parser falls. */
export function deepJson(depth: number, status = 200): Step[] {
  const text = `{"items":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  return answer(status, { 'Content-Type': 'application/json' }, text);
}
