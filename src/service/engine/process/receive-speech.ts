import type { SpeechChunk, WordMark } from '../speech-engine.ts';
import type { EngineMessage, SpeakMessage } from './messages.ts';
import { ProtocolFault } from './messages.ts';
import { type ReceivedMessage, samplesOf } from './read-messages.ts';
import { SpeechAccount } from './speech-account.ts';

/** How an engine ends a request. */
export type Ending =
  | { readonly type: 'done'; readonly isHeard: boolean }
  | Extract<EngineMessage, { readonly type: 'error' }>;

/**
 * The speech of one request, checked message by message.
 * @param receive gives the engine's next message
 * @returns the message that ended it
 * @throws ProtocolFault for messages that do not belong to it, and what `receive` throws
 */
export async function* receiveSpeech(
  request: SpeakMessage,
  sampleRate: number,
  receive: () => Promise<ReceivedMessage>,
): AsyncGenerator<SpeechChunk, Ending> {
  const account = new SpeechAccount(request, sampleRate);
  let words: WordMark[] = [];
  for (;;) {
    const { message, pcm } = await receive();
    refuseMisplaced(message, request);
    if (message.type === 'words') {
      account.addWords(message.words);
      words.push(...message.words);
    } else if (message.type === 'audio') {
      const samples = samplesOf(pcm);
      account.add(samples);
      yield { samples, sampleRate, ...(words.length === 0 ? {} : { words }) };
      words = [];
    } else if (message.type === 'done') {
      const isHeard = account.close();
      if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
      return { type: 'done', isHeard };
    } else if (message.type === 'error') {
      return message;
    }
  }
}

function refuseMisplaced(message: EngineMessage, request: SpeakMessage): void {
  if (message.type === 'hello') throw new ProtocolFault('it said hello again');
  if (message.id === request.id) return;
  throw new ProtocolFault(
    `it sent ${message.type} for request ${message.id ?? 'none'} while request ${request.id} was open`,
  );
}
