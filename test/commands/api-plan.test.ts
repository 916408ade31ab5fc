import { describe, expect, test } from 'vitest';
import {
  parseField,
  isPublic,
  isRealtime,
  planCall,
  retryRules,
} from '../../commands/api/plan-call.ts';
import type { ApiFlags } from '../../commands/api/plan-call.ts';

const field = [parseField('-F', 'a=1')];

describe('a call is checked before anything is read or sent', () => {
  test.each<[string[], ApiFlags, string]>([
    [[], {}, 'METHOD and PATH are missing'],
    [['GET'], {}, 'PATH is missing'],
    [['/api/open/v1/profile'], {}, 'METHOD is missing before /api/open/v1/profile'],
    [['https://api.example.com/x'], {}, 'METHOD is missing before https://api.example.com/x'],
    [['FETCH', '/x'], {}, 'METHOD is "FETCH", which is not an HTTP method'],
    [['GET', 'x'], {}, 'PATH is "x"; the path of an endpoint begins with /'],
    [['GET', ''], {}, 'PATH is ""; the path of an endpoint begins with /'],
    [
      ['GET', 'C:/Program Files/Git/x'],
      {},
      'PATH is "C:/Program Files/Git/x"; the path of an endpoint',
    ],
    [['GET', '/a b'], {}, 'PATH is "/a b"; it must not contain white space, # or \\'],
    [['GET', '/a#b'], {}, 'PATH is "/a#b"; it must not contain white space, # or \\'],
    [['GET', '/a\\b'], {}, 'PATH is "/a\\b"; it must not contain white space, # or \\'],
    [['POST', '/x'], { body: 'f', field }, '--body and fields (-F, -f) cannot be combined'],
    [['POST', '/x'], { body: 'f', form: true }, '--body and --form cannot be combined'],
    [['POST', '/x'], { form: true }, '--form requires fields (-F)'],
    [['GET', '/x'], { body: 'f' }, '--body does not work with GET'],
    [['HEAD', '/x'], { form: true, field }, '--form does not work with HEAD'],
    [
      ['POST', '/x'],
      { header: ['Authorization: Bearer x'] },
      '-H cannot set the header Authorization',
    ],
    [['POST', '/x'], { header: ['authorization:x'] }, '-H cannot set the header Authorization'],
    [['POST', '/x'], { header: ['Host: x'] }, 'cannot set the header Host'],
    [['POST', '/x'], { header: ['Content-Length: 1'] }, 'cannot set the header Content-Length'],
    [['POST', '/x'], { header: ['secret'] }, '-H requires a header in the form name:value'],
    [['POST', '/x'], { header: ['a b: c'] }, '"a b" is not a valid header name'],
    [['POST', '/x'], { header: ['a: b\nc: d'] }, 'the value of the header a is not valid'],
    [
      ['POST', '/x'],
      { form: true, field, header: ['Content-Type: a/b'] },
      '--form sets the Content-Type itself',
    ],
  ])('%j %j', (args, flags, message) => {
    expect(() => planCall(args, flags)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), exit: 'usage' }),
    );
  });

  test('a URL is refused without repeating it, since it may hold a signature', () => {
    expect(() => planCall(['GET', 'https://x.test/?sig=abc'], {})).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('abc'), exit: 'usage' }),
    );
  });

  test.each<[string, ApiFlags, string | undefined]>([
    ['two fields', { field: [parseField('-F', 'a=@-'), parseField('-F', 'b=@-')] }, undefined],
    ['the body and the key', { body: '-' }, '-'],
    ['a field and the key', { field: [parseField('-F', 'a=@-')] }, '-'],
  ])('stdin serves one of them only: %s', (_what, flags, keyFile) => {
    expect(() => planCall(['POST', '/x'], flags, keyFile)).toThrow(
      expect.objectContaining({ message: 'stdin is used more than once', exit: 'usage' }),
    );
  });

  test('the method may be written small, and headers keep their own places', () => {
    const header = ['x-request-id: r', 'Idempotency-Key:k', 'Accept: a/b', 'X-A: 1', 'x-a: 2'];
    expect(planCall(['post', '/x?y=1'], { header })).toMatchObject({
      method: 'POST',
      path: '/x',
      target: '/x?y=1',
      headers: { requestId: 'r', idempotencyKey: 'k', accept: 'a/b', others: { 'x-a': '1, 2' } },
    });
  });
});

describe('where a call goes', () => {
  test('only the two public documents and the health of the service need no key', () => {
    const path = '/api/open/v3/speech/tts/capabilities';
    expect(isPublic('GET', path)).toBe(true);
    expect(isPublic('GET', '/api/open/v3/openapi.json')).toBe(true);
    expect(isPublic('POST', path)).toBe(false);
    expect(isPublic('GET', '/v3/tts/capabilities')).toBe(false);
    expect(isPublic('GET', '/api/open/v1/profile')).toBe(false);
  });

  test('the HTTP paths of the realtime interface are on its own host', () => {
    expect(isRealtime('/v3/tts/capabilities')).toBe(true);
    expect(isRealtime('/v2/tts/browser-tickets')).toBe(true);
    expect(isRealtime('/v1/tts')).toBe(false);
    expect(isRealtime('/api/open/v3/speech/tts')).toBe(false);
  });
});

describe('what may be sent again, and what may have been billed', () => {
  const KEY = ['Idempotency-Key: k'];
  const ID = ['X-Request-Id: r'];
  test.each<[string, string, string[], string, boolean]>([
    ['GET', '/api/open/v3/voices', [], 'safe', false],
    ['HEAD', '/anything', [], 'safe', false],
    ['POST', '/api/open/v3/speech/tts', [], 'never', true],
    ['POST', '/api/open/v3/speech/tts', ID, 'never', true],
    ['POST', '/api/open/v3/speech/tts', KEY, 'keyed', true],
    ['POST', '/api/open/v3/speech/tts/aligned', KEY, 'keyed', true],
    ['POST', '/api/open/v3/speech/tts/jobs', KEY, 'keyed', true],
    ['POST', '/api/open/v1/speech/tts', KEY, 'never', true],
    ['POST', '/api/open/v1/speech/tts', ID, 'keyed', true],
    ['POST', '/api/open/v2/speech/tts', ID, 'keyed', true],
    ['POST', '/api/open/v1/speech/tts/jobs', ID, 'keyed', true],
    ['POST', '/api/open/v1/voice-designs', KEY, 'keyed', true],
    ['POST', '/api/open/v1/voice-designs/d1/voices', KEY, 'keyed', true],
    ['POST', '/api/open/v1/media/video-dubbing/jobs', KEY, 'keyed', true],
    ['POST', '/api/open/v1/media/images/jobs', KEY, 'keyed', true],
    ['POST', '/api/open/v1/media/videos/jobs', KEY, 'keyed', true],
    ['POST', '/api/open/v1/media/lip-sync/jobs', KEY, 'never', true],
    ['POST', '/api/open/v1/voices', [...KEY, ...ID], 'never', true],
    ['POST', '/v1/tts', [...KEY, ...ID], 'never', true],
    ['POST', '/v1/audio/speech', [...KEY, ...ID], 'never', true],
    ['POST', '/api/open/create-model', KEY, 'never', true],
    ['POST', '/api/open/v9/unknown', KEY, 'never', true],
    ['PUT', '/api/open/v3/speech/tts', KEY, 'never', true],
    ['POST', '/api/open/v1/profile', KEY, 'never', false],
    ['POST', '/v3/tts/browser-tickets', [], 'never', false],
    ['DELETE', '/api/open/v1/voices/v1', [], 'never', false],
  ])('%s %s with %j', (method, path, header, retry, billed) => {
    expect(retryRules(planCall([method, path], { header }))).toMatchObject({ retry, billed });
  });

  test('a key of the user is never replaced by another one', () => {
    const rules = retryRules(planCall(['POST', '/api/open/v3/speech/tts'], { header: KEY }));
    expect(rules.key).toEqual({ value: 'k', madeByTool: false, sentAs: 'Idempotency-Key' });
  });
});
