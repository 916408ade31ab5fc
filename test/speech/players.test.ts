import { describe, expect, test } from 'vitest';
import { findPlayer, splitWords } from '../../src/speech/play.ts';

const installed =
  (...names: string[]) =>
  (command: string): Promise<string | undefined> =>
    Promise.resolve(names.includes(command) ? `/bin/${command}` : undefined);

describe('the player', () => {
  const platform = 'linux';

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
    const player = await findPlayer({ format, platform }, installed(...names));
    expect([player.command, ...player.args].join(' ')).toBe(expected);
  });

  test('that takes the format must exist', async () => {
    await expect(
      findPlayer({ format: 'ogg', platform }, installed('mpg123', 'aplay')),
    ).rejects.toThrow(/no player for ogg.*mpv, ffplay, play/);
  });

  test('of the user is taken as it is, and must exist', async () => {
    const own = 'my-player --gain -3 "a b"';
    expect(await findPlayer({ format: 'mp3', own, platform }, installed('my-player'))).toEqual({
      command: 'my-player',
      file: '/bin/my-player',
      args: ['--gain', '-3', 'a b'],
    });
    await expect(findPlayer({ format: 'mp3', own, platform }, installed())).rejects.toThrow(
      /the program my-player is not installed/,
    );
    await expect(findPlayer({ format: 'mp3', own: '  ', platform }, installed())).rejects.toThrow(
      /--player is empty/,
    );
  });
});

describe('without an installed player', () => {
  test.each([
    ['darwin', 'mp3', 'afplay'],
    ['darwin', 'ogg', 'afplay'],
    ['win32', 'mp3', 'powershell'],
    ['win32', 'wav', 'powershell'],
  ] as const)('%s plays %s with %s, from a file', async (platform, format, command) => {
    const all = installed('afplay', 'powershell');
    expect(await findPlayer({ format, platform }, all)).toMatchObject({ command, playsFile: true });
  });

  test('Windows prefers an installed player', async () => {
    const both = installed('powershell', 'mpv');
    const player = await findPlayer({ format: 'mp3', platform: 'win32' }, both);
    expect(player).toMatchObject({ command: 'mpv', playsFile: undefined });
  });

  test('PowerShell gets the path in a variable, and asks nothing', async () => {
    const { args } = await findPlayer(
      { format: 'mp3', platform: 'win32' },
      installed('powershell'),
    );
    expect(args).toEqual([
      '-NoLogo',
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      expect.stringMatching(/^[^"]*SoundPlayer \$env:FOLEY_SOUND_FILE\)\.PlaySync\(\)$/),
    ]);
  });

  test.each(['afplay', 'powershell'])('%s is not used on Linux', async (command) => {
    const player = findPlayer({ format: 'mp3', platform: 'linux' }, installed(command));
    await expect(player).rejects.toThrow(/no player for mp3/);
  });
});

describe('a command line on Windows', () => {
  test.each([
    ['C:\\mpv\\mpv.exe -', ['C:\\mpv\\mpv.exe', '-']],
    ['"C:\\Program Files\\mpv\\mpv.exe" - ', ['C:\\Program Files\\mpv\\mpv.exe', '-']],
    ['\\\\server\\tools\\play.exe', ['\\\\server\\tools\\play.exe']],
    ["it's a", ["it's", 'a']],
  ])('%s keeps its backslashes', (line, words) => {
    expect(splitWords(line, '--player', 'win32')).toEqual(words);
  });

  test('must close its quotes', () => {
    expect(() => splitWords('"C:\\a b', '--player', 'win32')).toThrow(/quote/);
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
