import { answer } from '../http-text.ts';
import type { RecordedRequest } from '../recorded-request.ts';
import type { Answer } from '../script.ts';
import type { Step } from '../steps.ts';
import type { Payload } from '../tiny-audio.ts';
import { errorAnswer } from './status.ts';
import { audio } from './wrong-answer.ts';

/** Strings that do harm where they are shown, or used as a name. `EVIL` marks what is left of one. */
export const HOSTILE_STRINGS = {
  escapeSequence: 'EVIL\u001B[2J\u001B[31mred',
  clipboard: 'EVIL\u001B]52;c;RVZJTA==\u0007',
  hyperlink: '\u001B]8;;http://evil.test\u0007EVIL\u001B]8;;\u0007',
  windowTitle: '\u001B]0;EVIL\u001B\\',
  c1Controls: 'EVIL\u009B31mred\u009D52;c;RVZJTA==\u009C',
  carriageReturn: 'rejected\rEVIL: all is well',
  newline: 'rejected\nfoley: EVIL',
  lineSeparators: 'rejected\u2028EVIL\u2029\u0085EVIL',
  backspace: 'EVIL\b\b\b\bgood',
  bidiOverride: 'EVIL\u202Egnp.exe\u2066\u2069',
  zeroWidth: 'E\u200BV\uFEFFI\u200DL',
  tags: 'EVIL\u{E0041}\u{E0042}',
  nul: 'EVIL\u0000hidden',
  delete: 'EVIL\u007F\u007F',
  workflowCommand: '\n::error::EVIL\n::add-mask::EVIL\n',
  pipelineCommand: '\n##[error]EVIL\n##vso[task.complete result=Succeeded;]EVIL\n',
  parentPath: '../../../EVIL',
  absolutePath: '/tmp/EVIL',
  windowsPath: '..\\..\\EVIL',
  deviceName: 'CON',
  optionLike: '-rf',
  prototype: '__proto__',
  formatCodes: '%s%n%x {0} ${EVIL} $(EVIL) `EVIL`',
  loneSurrogate: 'EVIL\uD800',
} as const;

/** An error of which every string is hostile: code, message, request id, details and their names. */
export function hostileError(status: number, text: string): Step[] {
  return errorAnswer(status, {
    code: text,
    message: text,
    requestId: text,
    details: { [text]: text, media_kind: text, stage: text, retryable: false },
    headers: { 'X-Request-Id': 'r-hostile' },
  });
}

/** An error of so many characters. */
export function longError(status: number, characters = 1_000_000): Step[] {
  return errorAnswer(status, { message: `EVIL${'x'.repeat(characters - 4)}` });
}

/**
 * The text in the service's own headers of a good answer. Control characters make the head one that
 * strict parsers refuse.
 */
export function hostileHeaders(payload: Payload, text: string): Step[] {
  return audio({
    ...payload,
    headers: {
      'X-Request-Id': text,
      'X-OpenAPI-Credits-Used': text,
      'X-OpenAPI-Quota-Remaining': text,
      'X-OpenAPI-Ignored-Parameters': text,
      'Content-Disposition': `attachment; filename="${text}"`,
    },
  });
}

/** An error whose reason phrase is the text, with a body that is not the service's. */
export function hostileReason(status: number, text: string): Step[] {
  const body = `<h1>${text}</h1>`;
  const lines = `Content-Type: text/html\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return [
    { kind: 'write', bytes: Buffer.from(`HTTP/1.1 ${status} ${text}\r\n${lines}\r\n${body}`) },
  ];
}

/** 200 of a content type that is the text. */
export function hostileType(text: string): Step[] {
  return answer(200, { 'Content-Type': `text/${text}` }, 'EVIL');
}

/** A list of one voice of which every string is hostile. */
export function hostileVoices(text: string): Step[] {
  const voice = {
    voiceId: text,
    name: text,
    isPersonal: false,
    primaryLanguage: text,
    languages: [text],
    modelIds: [text],
  };
  const page = { total: 1, page: 1, pageSize: 20, totalPages: 1, items: [voice], requestId: text };
  return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(page));
}

/** A capability record of which every string is hostile. */
export function hostileCapabilities(text: string): Step[] {
  const operations = { synchronous: true, asynchronous: true, alignedStreaming: true };
  const model = {
    id: text,
    available: true,
    maxTextLength: 10_000,
    outputFormats: [text],
    controls: { speed: true, volume: true, stability: true, similarity: true, [text]: true },
    supportedOperations: operations,
  };
  const record = { contractVersion: text, route: text, models: [model] };
  return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(record));
}

/** JSON with keys that change the prototype of what a careless program copies it into. */
export function prototypeBody(status: number): Step[] {
  const poison = '{"EVIL":true,"exitCode":0,"retryable":true}';
  const body = `{"__proto__":${poison},"constructor":{"prototype":${poison}},"code":"ERR_PROTO",
    "message":"Poisoned.","requestId":"r-proto","details":{"__proto__":${poison}},"items":[]}`;
  return answer(status, { 'Content-Type': 'application/json' }, body);
}

/** An error that repeats every header of the request, the credential included. */
export function echoOfRequest(status: number): Answer {
  return (request) => {
    const lines = request.headers.map(([name, value]) => `${name}: ${value}`);
    const message = `Cannot serve ${lines.join('; ')}`;
    return errorAnswer(status, { message, details: { credential: bearerOf(request) } });
  };
}

function bearerOf(request: RecordedRequest): string {
  return (request.header('authorization') ?? '').replace(/^Bearer /, '');
}
