/** An encoder of libopus: 48 kHz, mono. */
export interface OpusCodec {
  /** A packet of so many samples, 16 bits each. */
  encode(samples: Buffer, frameSize: number): Uint8Array;
  encoderCTL(request: number, value: number): void;
}

/**
 * The package's encoders share one memory and must neither be freed nor become many: each writes its input
 * to twice the address that it reserved, which hits nothing in use as long as they were all made in a row
 * and there are few. So there are at most these, each for one stream after the other.
 */
const MOST_CODECS = 16;
const SAMPLE_RATE = 48_000;
const BITS_PER_SECOND = 32_000;
const RESET_STATE = 4_028;

const idle: OpusCodec[] = [];
const waiting: ((codec: OpusCodec) => void)[] = [];
let made = 0;

/** An encoder in its first state, as soon as there is one. */
export async function takeOpusCodec(): Promise<OpusCodec> {
  const free = idle.pop() ?? (made < MOST_CODECS ? await makeCodec() : undefined);
  if (free === undefined) return new Promise((resolve) => void waiting.push(resolve));
  return free;
}

export function giveBackOpusCodec(codec: OpusCodec): void {
  codec.encoderCTL(RESET_STATE, 0);
  const next = waiting.shift();
  if (next === undefined) idle.push(codec);
  else next(codec);
}

async function makeCodec(): Promise<OpusCodec> {
  made += 1;
  const { default: OpusScript } = await import('opusscript');
  const codec = new OpusScript(SAMPLE_RATE, 1, OpusScript.Application.AUDIO);
  codec.setBitrate(BITS_PER_SECOND);
  return codec;
}
