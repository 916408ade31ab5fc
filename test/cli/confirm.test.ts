import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { confirm, confirmByDefault } from '../../src/cli/prompt.ts';

async function answerWith<Answer = boolean>(
  type: (terminal: PassThrough) => void,
  signal?: AbortSignal,
  ask: (...given: Parameters<typeof confirm>) => Promise<Answer | boolean> = confirm,
) {
  const terminal = new PassThrough();
  const asked: string[] = [];
  const io = { stdin: () => terminal, ask: (text: string) => void asked.push(text) };
  const answer = ask('Really?', { io, signal: signal ?? new AbortController().signal });
  type(terminal);
  return { answer: await answer, asked: asked.join(''), terminal };
}

describe('a yes-or-no question', () => {
  test.each([
    ['y\n', true],
    ['Y\n', true],
    ['yes\r\n', true],
    [' yes \n', true],
    ['n\n', false],
    ['\n', false],
    ['no\ny\n', false],
    ['yeah\n', false],
    ['ｙ\n', false],
  ])('answered with %j is %s', async (typed, yes) => {
    const { answer, asked } = await answerWith((terminal) => terminal.write(typed));
    expect([answer, asked]).toStrictEqual([yes, 'Really? [y/N] ']);
  });

  test('is answered by a line that arrives in several chunks', async () => {
    const { answer } = await answerWith((terminal) => {
      for (const byte of Buffer.from('yes\n')) terminal.write(Buffer.from([byte]));
    });
    expect(answer).toBe(true);
  });

  test('without a complete line means no, and ends the line on stderr', async () => {
    const { answer, asked } = await answerWith((terminal) => terminal.end('ye'));
    expect([answer, asked]).toStrictEqual([false, 'Really? [y/N] \n']);
  });

  test('rejects with the reason of the signal, and removes its listeners', async () => {
    const stop = new AbortController();
    let terminal: PassThrough | undefined;
    const asked = answerWith((opened) => {
      terminal = opened;
      stop.abort(new Error('stopped'));
    }, stop.signal);
    await expect(asked).rejects.toThrow('stopped');
    expect(terminal?.listenerCount('data')).toBe(0);
  });
});

describe('a question whose usual answer is yes', () => {
  test.each([
    ['\n', true],
    [' YES\n', true],
    ['n\n', false],
    ['No\r\n', false],
    ['nope\n', undefined],
    ['quit\n', undefined],
  ])('answered with %j is %s', async (typed, yes) => {
    const { answer, asked } = await answerWith(
      (terminal) => terminal.write(typed),
      undefined,
      confirmByDefault,
    );
    expect([answer, asked]).toStrictEqual([yes, 'Really? [Y/n] ']);
  });

  test('has no answer if the input ends', async () => {
    const { answer } = await answerWith(
      (terminal) => terminal.end(''),
      undefined,
      confirmByDefault,
    );
    expect(answer).toBeUndefined();
  });
});
