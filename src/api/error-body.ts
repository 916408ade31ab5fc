import type { Clock } from '../effects/clock.ts';
import { decodeUtf8 } from '../text/decode.ts';
import type { Answer, AnswerHeaders } from './answer.ts';

const MOST_BYTES = 64 * 1024;
const LONGEST_MS = 10_000;

/**
 * The text of an error answer; `undefined` when it is packed, too large, too slow, cut or not text:
 * its status says enough then.
 */
export async function readErrorText(
  answer: Pick<Answer, 'body' | 'discard' | 'headers'>,
  clock: Clock,
): Promise<string | undefined> {
  if (isPacked(answer.headers)) {
    answer.discard();
    return undefined;
  }
  const stop = clock.after(LONGEST_MS, () => answer.discard());
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body) {
      size += chunk.length;
      if (size > MOST_BYTES) return undefined;
      parts.push(chunk);
    }
    return decodeUtf8(Buffer.concat(parts));
  } catch {
    return undefined;
  } finally {
    stop();
  }
}

/** Whether the bytes are not the content itself, which was not asked for. */
export function isPacked(headers: AnswerHeaders): boolean {
  return !['', 'identity'].includes(headers.get('content-encoding')?.trim().toLowerCase() ?? '');
}
