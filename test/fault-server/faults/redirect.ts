import { answer } from '../http-text.ts';
import type { Rule } from '../script.ts';
import type { Step } from '../steps.ts';

export type RedirectStatus = 301 | 302 | 303 | 307 | 308;

/** Sends the client somewhere else: another origin, another path, `file:`, `data:` or nonsense. */
export function redirectTo(location: string, status: RedirectStatus = 302): Step[] {
  return answer(status, { Location: location }, '');
}

/** A redirect that does not say where to. */
export function redirectNowhere(status: RedirectStatus = 302): Step[] {
  return answer(status);
}

/** Two paths that send the client back and forth for ever. */
export function redirectLoop(first: string, second = `${first}/again`): Rule[] {
  return [
    { path: first, answer: redirectTo(second) },
    { path: second, answer: redirectTo(first) },
  ];
}

/** A chain of so many redirects, from `path` over `path/1`, `path/2`…; the last is left to others. */
export function redirectChain(path: string, hops: number): Rule[] {
  return Array.from({ length: hops }, (_, index) => ({
    path: index === 0 ? path : `${path}/${index}`,
    answer: redirectTo(`${path}/${index + 1}`),
  }));
}

/** Places that no client may be sent to. */
export const FORBIDDEN_LOCATIONS = {
  file: 'file:///etc/passwd',
  data: 'data:audio/mpeg;base64,SUQz',
  javascript: 'javascript:alert(1)',
  ftp: 'ftp://127.0.0.1/a.mp3',
  noHost: 'http://',
  credentials: 'http://user:password@127.0.0.1:9/',
} as const;
