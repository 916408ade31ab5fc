import type { WireRequest } from '../../api/request.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { describeSound } from '../../audio/verify.ts';
import type { CommandResult } from '../render/result.ts';
import { toJson, counted } from '../../text/display.ts';
import type { Spoken } from '../../speech/speak.ts';

/** What is told of speech: where it is, what it is, and what the service said of it. */
export interface ToldSpeech extends Pick<Spoken, 'path' | 'verdict'> {
  readonly answer: Pick<
    Spoken['answer'],
    'creditsUsed' | 'ignoredParameters' | 'quotaRemaining' | 'requestId'
  >;
}

/** How it was asked for. */
interface ToldRequest {
  readonly parts: number;
  readonly target: 'embedded' | 'hosted';
  readonly tellsIgnored: boolean;
}

/**
 * The document of `foley tts --json`.
 * @param captions what is told of them, where they were asked for
 */
export function spokenResult(
  { answer, path, verdict }: ToldSpeech,
  { modelId, voiceId }: SpeechOrder,
  { parts, target, tellsIgnored }: ToldRequest,
  captions?: object,
): CommandResult {
  return {
    data: {
      output: path ?? null,
      bytes: verdict.bytes,
      format: verdict.format,
      voiceId,
      modelId: modelId ?? null,
      requestId: answer.requestId,
      creditsUsed: answer.creditsUsed ?? null,
      quotaRemaining: answer.quotaRemaining ?? null,
      // Where an answer does not tell, nobody knows whether there are none.
      ignoredParameters: tellsIgnored ? answer.ignoredParameters : null,
      parts,
      target,
      ...(captions === undefined ? {} : { captions }),
    },
  };
}

/** What was spoken and what it cost, on a line for stderr. */
export function spokenNotice({ answer, path, verdict }: ToldSpeech): string {
  const sound = describeSound(verdict);
  return withCost(path === undefined ? sound : `${path}: ${sound}`, answer);
}

/** What was made, and beside it what it cost, as far as the service tells. */
export function withCost(
  made: string,
  { creditsUsed, ignoredParameters = [], quotaRemaining }: ToldCost,
): string {
  return [
    made,
    creditsUsed === undefined ? undefined : `${counted(creditsUsed, 'credit')} used`,
    quotaRemaining === undefined ? undefined : `quota left: ${quotaRemaining}`,
    ignoredParameters.length === 0
      ? undefined
      : `not applied by this model: ${ignoredParameters.join(', ')}`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

interface ToldCost {
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters: readonly string[] | undefined;
}

/** The document of `--dry-run`: what would be sent, with the key masked. */
export function dryRunResult(request: WireRequest): CommandResult {
  const data = described(request);
  return { data, human: () => toJson(data, true) };
}

/** The same for a text that is spoken in parts. */
export function dryRunParts(requests: readonly WireRequest[]): CommandResult {
  const data = { parts: requests.map((request) => described(request)) };
  return { data, human: () => toJson(data, true) };
}

function described({ body, headers, method, url }: WireRequest): object {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : (JSON.parse(Buffer.from(body).toString('utf8')) as unknown),
  };
}
