import type { ApiClient } from '../../src/api/client.ts';
import { getProfile } from '../../src/api/resources/profile.ts';
import { synthesize } from '../../src/api/resources/speech.ts';
import { listVoices } from '../../src/api/resources/voices.ts';
import { describeSound, createVerifier } from '../../src/audio/verify.ts';
import type { Context } from '../../src/cli/command.ts';
import { serviceHost, openClient } from '../../src/cli/connect.ts';
import { startEmbedded } from '../../src/embedded/start.ts';
import { requireSharp } from '../../src/embedded/missing-binary.ts';
import { Failure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';
import type { Check, Finding } from './checks.ts';
import { ok, problem, problemOf, warning } from './checks.ts';

// Few, because the user is waiting.
const MAX_RETRIES = 1;
const REINSTALL = 'Reinstall foley. If the problem remains, report it as a bug.';

/** Starts the embedded service with the user's data, and requests speech for one word from it. */
export const embeddedCheck: Check = {
  name: 'embedded service',
  async run(context) {
    const service = await startEmbedded(await serviceHost(context));
    const client = openClient(context, service.address);
    try {
      return [await speakWord(client, context), ...(await pictureFindings())];
    } finally {
      await client.close();
      await service.close();
    }
  },
};

async function pictureFindings(): Promise<readonly Finding[]> {
  try {
    await requireSharp();
    return [];
  } catch (error) {
    return [problemOf(error)];
  }
}

async function speakWord(
  client: ApiClient,
  { system: { random }, signal }: Context,
): Promise<Finding> {
  const { value } = await listVoices(client, { pageSize: 1, signal });
  const [voice] = value.items;
  if (voice === undefined) return problem('the embedded service has no voices', REINSTALL);
  const speech = await synthesize(
    client,
    { text: 'Ready.', voiceId: voice.voiceId, format: 'wav' },
    { idempotencyKey: { value: random.uuid(), madeByTool: true }, signal },
  );
  const verifier = createVerifier('wav');
  for await (const chunk of speech.body) verifier.write(chunk);
  const sound = verifier.end();
  if (sound.problem !== undefined)
    return problem(`the audio of the embedded service ${sound.problem}`, REINSTALL);
  return ok(`starts and speaks (${describeSound(sound)}; ${counted(value.total, 'voice')})`);
}

/** Checks that the configured service responds and accepts the API key. */
export const targetCheck: Check = {
  name: 'service',
  async run(context, shared) {
    const target = await shared.target();
    if (target.kind === 'embedded') return [ok('commands use the embedded service')];
    const { clock } = context.system;
    const { globals } = context;
    const fewRetries = { ...globals, maxRetries: globals.maxRetries ?? MAX_RETRIES };
    const client = openClient({ ...context, globals: fewRetries }, target.address);
    const { host } = target.address.baseUrl;
    try {
      const start = clock.now();
      const { headers, value } = await getProfile(client, context.signal);
      const between = (start + clock.now()) / 2;
      return [
        ok(`${host} responds and accepts the key, for ${value.user_id} (${value.tier})`),
        ...clockFindings(headers.get('date'), between, host),
      ];
    } catch (error) {
      if (!(error instanceof Failure)) return [problemOf(error)];
      const { hint, message } = error;
      return [problem(message.includes(host) ? message : `${host}: ${message}`, hint)];
    } finally {
      await client.close();
    }
  },
};

const NOTICEABLE_MS = 60_000;
// From this difference on, a service may refuse signed URLs, and certificates may be invalid.
const HARMFUL_MS = 300_000;

/**
 * Compares the clock of this computer with the clock of a service.
 * @param date the `Date` header of a response
 * @param now time on this computer when the service sent the response, in milliseconds since the Unix epoch
 */
export function clockFindings(date: string | undefined, now: number, host: string): Finding[] {
  const theirs = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return [];
  const distance = Math.abs(now - theirs);
  if (distance <= NOTICEABLE_MS) return [ok(`the clocks of ${host} and this computer agree`)];
  const minutes = Math.round(distance / NOTICEABLE_MS);
  const direction = now > theirs ? 'ahead of' : 'behind';
  const text = `this computer’s clock is ${minutes} min ${direction} that of ${host}`;
  const hint = 'Synchronize the clock (NTP).';
  return [distance > HARMFUL_MS ? problem(text, hint) : warning(text, hint)];
}
