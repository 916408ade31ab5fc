import { describe, expect, test } from 'vitest';
import { findPlayer, splitWords } from '../../src/speech/play.ts';

const installed =
  (...names: string[]) =>
  (command: string): Promise<string | undefined> =>
    Promise.resolve(names.includes(command) ? `/bin/${command}` : undefined);

describe('the player', () => {
  test.each([
    [
      'mp3',
      ['aplay', 'mpg123'],
      'mpg123 -q -o pulse,alsa,oss,sndio,sun,coreaudio,win32_wasapi,win32 -',
    ],
    ['mp3', ['ffplay', 'mpv'], 'mpv --no-terminal --no-video -'],
    ['ogg', ['mpg123', 'aplay', 'play'], 'play -q -t ogg -'],
    ['wav', ['aplay'], 'aplay -q -'],
  ] as const)('for %s with %j installed is `%s`', async (format, names, expected) => {
    const player = await findPlayer({ format }, installed(...names));
    expect([player.command, ...player.args].join(' ')).toBe(expected);
  });

  test('that takes the format must exist', async () => {
    await expect(findPlayer({ format: 'ogg' }, installed('mpg123', 'aplay'))).rejects.toThrow(
      /no player for ogg.*mpv, ffplay, play/,
    );
  });

  test('of the user is taken as it is, and must exist', async () => {
    const own = 'my-player --gain -3 "a b"';
    expect(await findPlayer({ format: 'mp3', own }, installed('my-player'))).toEqual({
      command: 'my-player',
      file: '/bin/my-player',
      args: ['--gain', '-3', 'a b'],
    });
    await expect(findPlayer({ format: 'mp3', own }, installed())).rejects.toThrow(
      /the program my-player is not installed/,
    );
    await expect(findPlayer({ format: 'mp3', own: '  ' }, installed())).rejects.toThrow(
      /--player is empty/,
    );
  });
});

describe('a command line is cut into words without a shell', () => {
  test.each([
    ['mpv -', ['mpv', '-']],
    ['  mpv   - ', ['mpv', '-']],
    [`a "b c" 'd e' f\\ g`, ['a', 'b c', 'd e', 'f g']],
    [`a"b"'c'd`, ['abcd']],
    ['a ""', ['a', '']],
    ['a $HOME `x` ; rm *', ['a', '$HOME', '`x`', ';', 'rm', '*']],
    ['"a \\" b"', ['a " b']],
  ])('%s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test.each([`a "b`, `a 'b`, 'a \\'])('%s is refused', (line) => {
    expect(() => splitWords(line)).toThrow(/quote/);
  });
});
