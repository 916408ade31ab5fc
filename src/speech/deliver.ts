import type { AudioAnswer } from '../api/speech.ts';
import type { Verdict } from '../audio/verdict.ts';
import { createVerifier } from '../audio/verify.ts';
import type { SpeechFormat } from '../contract/generated/speech-controls.ts';
import { Failure } from '../errors/failure.ts';

/** Enough leading bytes to know every format by its mark. */
const LEADING_BYTES = 64;

/** Something that takes audio: a file, stdout, a player. A slow one slows the sender. */
export interface AudioSink {
  write(chunk: Uint8Array): Promise<void>;
}

/**
 * Hands audio on as it arrives and checks it on the way: its leading bytes before the first is handed
 * on, the rest while it streams, its end at the end (contract, section 3). Buffers no more than the
 * leading bytes.
 * @throws Failure (bad_answer) when the bytes are not the format that was asked for, or end too early
 */
export async function deliver(
  answer: AudioAnswer,
  format: SpeechFormat,
  sink: AudioSink,
): Promise<Verdict> {
  const verifier = createVerifier(format);
  try {
    for await (const chunk of leadingTogether(answer.body)) {
      verifier.write(chunk);
      if (verifier.problem !== undefined) throw unusable(verifier.problem, answer);
      await sink.write(chunk);
    }
  } catch (error) {
    answer.discard();
    throw error;
  }
  const verdict = verifier.end();
  if (verdict.problem !== undefined) throw unusable(verdict.problem, answer);
  return verdict;
}

/** The same bytes, with the first chunk long enough to be recognised. */
async function* leadingTogether(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let leading: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const chunk of body) {
    if (leading === undefined) {
      yield chunk;
      continue;
    }
    leading.push(chunk);
    size += chunk.length;
    if (size < LEADING_BYTES) continue;
    yield Buffer.concat(leading);
    leading = undefined;
  }
  if (leading !== undefined && size > 0) yield Buffer.concat(leading);
}

function unusable(problem: string, { creditsUsed, requestId }: AudioAnswer): Failure {
  return new Failure(`the audio ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Nothing was saved under the name you asked for. Try again; if it stays, the service is at fault.',
    requestId,
    billed: creditsUsed === undefined ? 'unknown' : 'yes',
  });
}
