import { describe, expect, test } from 'vitest';
import type { DestinationOptions } from '../../commands/shared/speech/output-plan.ts';
import { SPEECH_FORMATS } from '../../src/contract/generated/speech-controls.ts';
import { planOutput } from '../../commands/shared/speech/output-plan.ts';

function plan(options: Partial<DestinationOptions>): unknown {
  const surface = { formats: SPEECH_FORMATS };
  return planOutput({ json: false, play: false, stdoutIsTerminal: false, ...options }, surface);
}

describe('where audio goes', () => {
  const terminal = { stdoutIsTerminal: true };
  test.each<[string, Partial<DestinationOptions>, unknown]>([
    ['into a pipe by default', {}, { kind: 'stdout', format: 'mp3' }],
    ['never to a terminal by default', terminal, { kind: 'automatic', format: 'mp3' }],
    ['to a terminal on request', { ...terminal, output: '-' }, { kind: 'stdout', format: 'mp3' }],
    ['to the player alone with --play', { play: true }, { kind: 'player', format: 'mp3' }],
    [
      'to a file and the player with --play --json',
      { play: true, json: true },
      { kind: 'automatic', format: 'mp3' },
    ],
    [
      'to stdout and the player with --play -o -',
      { play: true, output: '-' },
      { kind: 'stdout', format: 'mp3' },
    ],
    ['to a file with --json', { json: true }, { kind: 'automatic', format: 'mp3' }],
    [
      'to a file that foley encodes',
      { output: 'a.flac' },
      { kind: 'file', path: 'a.flac', format: 'wav', encoding: 'flac' },
    ],
    ['to the named file', { output: 'a.ogg' }, { kind: 'file', path: 'a.ogg', format: 'ogg' }],
    [
      'with the extension’s case ignored',
      { output: 'A.WAV' },
      { kind: 'file', path: 'A.WAV', format: 'wav' },
    ],
    [
      'to a name without extension',
      { output: 'out' },
      { kind: 'file', path: 'out', format: 'mp3' },
    ],
    [
      'as --format says',
      { output: 'out', format: 'wav' },
      { kind: 'file', path: 'out', format: 'wav' },
    ],
    ['as configured', { configuredFormat: 'ogg' }, { kind: 'stdout', format: 'ogg' }],
    [
      'as the extension before what is configured',
      { output: 'a.wav', configuredFormat: 'ogg' },
      { kind: 'file', path: 'a.wav', format: 'wav' },
    ],
    [
      'as --format before what is configured',
      { format: 'wav', configuredFormat: 'ogg' },
      { kind: 'stdout', format: 'wav' },
    ],
  ])('%s', (_, options, expected) => {
    expect(plan(options)).toEqual(expected);
  });
});

describe('contradictions are refused', () => {
  test.each<[string, Partial<DestinationOptions>, RegExp]>([
    ['--json with stdout', { json: true, output: '-' }, /--json/],
    ['--format against the extension', { output: 'a.mp3', format: 'wav' }, /--format is wav.*mp3/],
    [
      'an extension of another format than those of speech',
      { output: 'a.aac' },
      /aac; the formats are mp3, wav, ogg, opus, flac, m4a, m4b/,
    ],
    ['an empty name', { output: '' }, /--output is empty/],
  ])('%s', (_, options, message) => {
    expect(() => plan(options)).toThrow(
      expect.objectContaining({ exit: 'usage', message: expect.stringMatching(message) }),
    );
  });
});
