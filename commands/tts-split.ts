import type { ApiClient } from '../src/api/client.ts';
import type { SpeechOrder } from '../src/api/speech-order.ts';
import type { Connection } from '../src/cli/context.ts';
import { TEXT_MAX_CHARACTERS } from '../src/contract/limits.ts';
import { Failure, usageFailure } from '../src/errors/failure.ts';
import type { TextLimit } from '../src/speech/long-text/text-limit.ts';
import type { TextPiece } from '../src/text/sentences.ts';
import type { Task } from './tts-task.ts';

/** What `--split` takes, in the order of the help. */
export const SPLIT_NAMES = ['auto', 'never'] as const;
export type SplitName = (typeof SPLIT_NAMES)[number];

/**
 * Refuses what no model takes at once and may not be cut.
 * @throws Failure (usage)
 */
export function checkLength(characters: number, split: SplitName | undefined): void {
  if (split === 'never' && characters > TEXT_MAX_CHARACTERS) {
    throw tooLong(characters, TEXT_MAX_CHARACTERS);
  }
}

/** What is asked for, and the parts it is cut into; undefined for a text that is sent as it is. */
export interface SplitOrder<Order extends SpeechOrder> {
  readonly body: Order;
  readonly parts: readonly TextPiece[] | undefined;
}

/**
 * Cuts a text that is longer than its model takes (contract, section 5, `--split`). The model that it is cut
 * for is sent. Looks at the models only when the text is long.
 * @throws Failure; (usage) when it may not be cut
 */
export async function splitOrder<Order extends SpeechOrder>(
  { characters, context, flags, text }: Task,
  { client }: Connection,
  body: Order,
): Promise<SplitOrder<Order>> {
  if (characters <= SHORT_TEXT_CHARACTERS) return { body, parts: undefined };
  const limit = await limitOf(client, body, { characters, signal: context.signal });
  if (characters <= limit.characters) return { body, parts: undefined };
  if (flags.split === 'never') throw tooLong(characters, limit.characters);
  const { splitParts } = await import('../src/text/parts.ts');
  const { modelId } = limit;
  return {
    body: modelId === undefined ? body : { ...body, modelId },
    parts: splitParts(text, limit.characters),
  };
}

/** Where nobody tells what a model takes, a text that one of them may take is left to the service. */
async function limitOf(
  client: ApiClient,
  body: SpeechOrder,
  { characters, signal }: { readonly characters: number; readonly signal: AbortSignal },
): Promise<TextLimit> {
  const { textLimit } = await import('../src/speech/long-text/text-limit.ts');
  return textLimit(client, body, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof Failure && characters <= TEXT_MAX_CHARACTERS) {
      return { characters: TEXT_MAX_CHARACTERS, modelId: undefined };
    }
    throw error;
  });
}

/**
 * Texts up to this length are sent without a look at the models: none that is known takes less, and a
 * service refuses what it does not take before it costs anything.
 */
const SHORT_TEXT_CHARACTERS = 1_000;

function tooLong(characters: number, limit: number): Failure {
  return usageFailure(
    `the text has ${characters} characters; one request takes at most ${limit}`,
    'Leave --split never out, and it is spoken in parts and joined.',
  );
}
