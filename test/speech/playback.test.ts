import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWavEncoder } from '../../src/audio/encode/pcm.ts';
import { openMp3 } from '../../src/audio/encode/wasm-encoder.ts';
import type { Format } from '../../src/audio/formats.ts';
import { findPlayer } from '../../src/speech/play.ts';
import { startPlayback } from '../../src/speech/playback.ts';
import { system } from '../../src/system/system.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { requirePosix } from '../harness/posix.ts';

/** Half a second of a tone. */
const TONE = Float32Array.from({ length: 22_050 }, (_, at) => Math.sin(at / 10) / 2);

async function encoded(format: 'mp3' | 'wav'): Promise<Uint8Array> {
  const encoder = format === 'wav' ? createWavEncoder(44_100) : await openMp3(44_100);
  const bytes = Buffer.concat([encoder.encode(TONE), encoder.finish()]);
  encoder.close();
  return bytes;
}

/** A player for files on `platform`, in whose place Node runs `script`; SOUND is the file that it plays. */
async function filePlayer(platform: 'darwin' | 'win32', format: Format, script: string) {
  requirePosix('programs that begin with #!');
  const { root, temporary } = await createSandbox();
  const file = path.join(root, 'player');
  const sound = platform === 'darwin' ? 'process.argv[2]' : 'process.env.FOLEY_SOUND_FILE';
  const code = `const SOUND = ${sound}; const OUT = ${JSON.stringify(path.join(root, 'heard'))};`;
  writeFileSync(file, `#!${process.execPath}\n${code}\n${script}`);
  chmodSync(file, 0o755);
  const player = await findPlayer({ format, platform }, async (command) =>
    command === 'afplay' || command === 'powershell' ? file : undefined,
  );
  const playback = await startPlayback(player, {
    system,
    signal: new AbortController().signal,
    temporaryFolder: temporary,
    notice: () => undefined,
  });
  return { heard: path.join(root, 'heard'), playback, temporary };
}

const COPIES = `require('fs').copyFileSync(SOUND, OUT);`;

describe.each(['darwin', 'win32'] as const)('a player for files on %s', (platform) => {
  it.each(['mp3', 'wav'] as const)(
    'plays %s as a wav file that states its length',
    async (format) => {
      const { heard, playback, temporary } = await filePlayer(platform, format, COPIES);
      const bytes = await encoded(format);
      await playback.write(bytes.subarray(0, 1_000));
      await playback.write(bytes.subarray(1_000));
      await playback.end();
      const wav = readFileSync(heard);
      expect(wav.toString('latin1', 0, 16)).toMatch(/^RIFF....WAVEfmt $/s);
      expect(wav.readUInt32LE(24)).toBe(44_100);
      expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
      expect((wav.length - 44) / 2 / 44_100).toBeCloseTo(0.5, 1);
      expect(readdirSync(temporary)).toEqual([]);
    },
  );

  it('that fails is reported with its message, and its file is removed', async () => {
    const script = `console.error('no device'); process.exit(3);`;
    const { playback, temporary } = await filePlayer(platform, 'mp3', script);
    await playback.write(await encoded('mp3'));
    await expect(playback.end()).rejects.toThrow(/failed \(exit code 3\): no device/);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('that is stopped ends, and its file is removed', async () => {
    const script = `require('fs').writeFileSync(OUT, ''); setTimeout(() => {}, 60_000);`;
    const { heard, playback, temporary } = await filePlayer(platform, 'mp3', script);
    await playback.write(await encoded('mp3'));
    const ended = playback.end();
    const failed = expect(ended).rejects.toThrow(/failed \(SIGTERM\)/);
    await expect.poll(() => existsSync(heard)).toBe(true);
    await playback.stop();
    expect(readdirSync(temporary)).toEqual([]);
    await failed;
  });

  it('does not start if it is stopped before all audio has arrived', async () => {
    const { heard, playback, temporary } = await filePlayer(platform, 'mp3', COPIES);
    await playback.write(new Uint8Array(1_000));
    await playback.stop();
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(heard)).toBe(false);
  });

  it('does not play sound that cannot be decoded', async () => {
    const { playback, temporary } = await filePlayer(platform, 'mp3', COPIES);
    await playback.write(Buffer.from('this is no sound'));
    await expect(playback.end()).rejects.toThrow(
      /^cannot play the audio, because it is not an audio file/,
    );
    expect(readdirSync(temporary)).toEqual([]);
  });
});
