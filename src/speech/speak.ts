import type { ApiClient } from '../api/client.ts';
import type { AudioAnswer, SpeechOptions } from '../api/speech.ts';
import { synthesize } from '../api/speech.ts';
import { extensionOf } from '../audio/formats.ts';
import type { Verdict } from '../audio/verdict.ts';
import type { SpeechRequest } from '../contract/schemas/speech.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { automaticName } from '../files/names.ts';
import type { Output } from '../files/output.ts';
import { openOutput } from '../files/publish.ts';
import type { AudioSink } from './deliver.ts';
import { deliver } from './deliver.ts';
import type { OutputPlan } from './output-plan.ts';

/** Audio that arrived whole and was checked. */
export interface Spoken {
  /** The file it is in; undefined when it went to stdout. */
  readonly path: string | undefined;
  readonly verdict: Verdict;
  readonly answer: Omit<AudioAnswer, 'body' | 'discard'>;
}

/**
 * Opens where the audio will go, before anything is billed. Undefined for stdout.
 * @throws Failure (output, exists, usage)
 */
export async function openPlanned(
  plan: OutputPlan,
  { text, noClobber, deps }: { text: string; noClobber: boolean; deps: FileDeps },
): Promise<Output | undefined> {
  switch (plan.kind) {
    case 'stdout':
      return undefined;
    case 'file':
      return openOutput({ ...deps, path: plan.path, existing: noClobber ? 'refuse' : 'replace' });
    case 'automatic':
      return openOutput({
        ...deps,
        path: automaticName(text, extensionOf(plan.format)),
        existing: 'number',
      });
  }
}

export interface SpeakOptions {
  readonly client: ApiClient;
  readonly body: SpeechRequest;
  readonly speech: SpeechOptions;
  readonly plan: OutputPlan;
  /** The opened file; without it the audio goes to stdout. */
  readonly output: Output | undefined;
  readonly stdout: AudioSink;
}

/**
 * Speaks synchronously and streams the audio to where it was planned to go; a file gets its name
 * only when everything in it was checked.
 * @throws Failure; the caller abandons the output then
 */
export async function speak(options: SpeakOptions): Promise<Spoken> {
  const { client, body, speech, plan, output, stdout } = options;
  const { body: audio, discard, ...answer } = await synthesize(client, body, speech);
  const verdict = await deliver({ body: audio, discard, ...answer }, plan.format, [
    output ?? stdout,
  ]);
  const published = await output?.publish();
  return { path: published?.path, verdict, answer };
}
