import type { RecordedRequest } from '../fault-server/recorded-request.ts';
import type { Answer, Rule } from '../fault-server/script.ts';
import type { Step } from '../fault-server/steps.ts';
import { write } from '../fault-server/steps.ts';
import { sparseAnswer, sparseEvent } from './sparse-answer.ts';
import { givenRequest, refusalOf } from './strict-request.ts';

/**
 * Returns a rule whose whole answers have nothing but the fields that the API names. Faults stay as they are.
 * @param onRefusal called with the reason for a request that the API does not describe
 */
export function sparseRule(rule: Rule, onRefusal: (reason: string) => void): Rule {
  return {
    ...rule,
    answer: (request) => {
      const reason = rule.answerAt === 'head' ? undefined : refusalOf(givenRequest(request));
      if (reason !== undefined) onRefusal(`${request.method} ${request.target}: ${reason}`);
      return sparseSteps(request, stepsOf(rule.answer, request));
    },
  };
}

function stepsOf(answer: Answer, request: RecordedRequest): readonly Step[] {
  return typeof answer === 'function' ? answer(request) : answer;
}

function sparseSteps(request: RecordedRequest, steps: readonly Step[]): readonly Step[] {
  const [first, second] = steps;
  const isWhole = steps.length === 2 && first?.kind === 'write' && second?.kind === 'write';
  if (!isWhole) return steps;
  const lines = Buffer.from(first.bytes).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(lines[0] ?? '')?.[1]);
  const headers = new Map(lines.slice(1).map((line) => [nameOf(line), line]));
  const body = Buffer.from(second.bytes);
  const type = valueOf(headers.get('content-type'));
  // A wrong length, or none, is a fault.
  if (Number(valueOf(headers.get('content-length'))) !== body.length) return steps;
  const values = Object.fromEntries(
    [...headers].flatMap(([name, line]) => (name === '' ? [] : [[name, valueOf(line)]])),
  );
  const answer = sparseAnswer(request, { status, headers: values, body: eventsIn(type, body) });
  const kept = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [write([lines[0], ...kept, '', ''].join('\r\n')), write(answer.body)];
}

function eventsIn(type: string, body: Buffer): Buffer {
  if (!type.startsWith('text/event-stream')) return body;
  return Buffer.from(body.toString().split('\n\n').map(sparseEvent).join('\n\n'));
}

function nameOf(line: string): string {
  return line.slice(0, Math.max(0, line.indexOf(':'))).toLowerCase();
}

function valueOf(line = ''): string {
  return line.slice(line.indexOf(':') + 1).trim();
}
