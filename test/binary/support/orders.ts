import fc from 'fast-check';
import { drawn } from '../../harness/seed.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';

/** Something that is billed, asked for on one of the surfaces. */
export interface Order {
  readonly kind: 'order';
  readonly surface: Surface;
  readonly account: number;
  /** `undefined` for one that is never asked for again. */
  readonly key: string | undefined;
  readonly text: string;
  readonly format: Format;
}

/** Something that costs nothing. */
export interface Look {
  readonly kind: 'look';
  readonly account: number;
  readonly path: string;
}

export type Ask = Order | Look;
export type Surface = (typeof SURFACES)[number];
type Format = 'mp3' | 'wav' | 'ogg';

/** The surfaces on which the answer is the audio, the one whose answer is an address, and jobs. */
export const SURFACES = [
  'v3',
  'v2',
  'v1',
  'cache',
  'compat-tts',
  'compat-speech',
  'job-v3',
  'job-v1',
] as const;

const LOOKS = [
  '/api/open/v1/profile',
  '/api/open/v3/speech/tts/jobs?limit=5',
  '/api/open/v1/speech/tts/jobs?limit=5&status=success',
  '/api/open/v3/voices',
  '/v1/audio/voices',
  '/api/open/v3/speech/tts/jobs/another-one',
];

/** A voice of the family whose models make every format. */
export const VOICE_ID = String(VOICES.find(({ family }) => family === 'vendor')?.id);

const roll = (accounts: number) =>
  fc.record({
    surface: fc.constantFrom(...SURFACES),
    format: fc.constantFrom<Format>('mp3', 'wav', 'ogg'),
    account: fc.nat(accounts - 1),
    sentences: fc.integer({ min: 1, max: 3 }),
    isLong: fc.nat(19).map((dice) => dice === 0),
    look: fc.constantFrom(...LOOKS),
    kind: fc.nat(99),
    earlier: fc.nat(7),
  });

/**
 * So many things to ask for, in order: new ones with and without a key, the same again under the key
 * of one that came shortly before, others under such a key, and what costs nothing.
 */
export function drawAsks(count: number, seed: number, accounts: number): Ask[] {
  const keyed: Order[] = [];
  return drawn(roll(accounts), count, seed).map((given, number) => {
    const { account, earlier, format, kind, look, sentences, surface } = given;
    if (kind < 12) return { kind: 'look', account, path: look };
    const before = keyed.at(-1 - (earlier % Math.max(1, keyed.length)));
    if (kind < 24 && before !== undefined) return before;
    const text = textOf(number, given.isLong ? 30 : sentences);
    if (kind < 32 && before !== undefined) return { ...before, text };
    const hasKey = !surface.startsWith('compat') && kind < 85;
    const key = hasKey ? `order-${number}` : undefined;
    const order = { kind: 'order', surface, account, key, text, format } as const;
    if (hasKey) keyed.push(order);
    return order;
  });
}

function textOf(number: number, sentences: number): string {
  return Array.from({ length: sentences }, (_, index) => `Take ${number}, ${index}.`).join(' ');
}
