import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import type { Certificate } from '../../fault-server/certificate.ts';
import type { FaultServer, FaultServerOptions } from '../../fault-server/fault-server.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { healthyService, SPEECH_PATH, VOICES } from '../../fault-server/healthy-service.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import type { TinyAudio } from '../../fault-server/tiny-audio.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import type { ErrorLine } from '../../harness/error-line.ts';
import { errorLine } from '../../harness/error-line.ts';
import { hosted } from '../../harness/hosted.ts';
import type { ShellResult } from '../../harness/in-shell.ts';
import { inShell } from '../../harness/in-shell.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { Running, RunOptions, RunResult } from '../../harness/run-options.ts';
import type { Sandbox, SandboxOptions } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';

export const VOICE = VOICES[0].voiceId;

/** Response headers of good audio; a test checks that the command reports them. */
const PAID = { 'X-OpenAPI-Credits-Used': '2', 'X-OpenAPI-Quota-Remaining': '98' };

/** A fault server, a sandbox, and `foley` pointed at the one from within the other. */
export interface Fixture {
  readonly server: FaultServer;
  readonly sandbox: Sandbox;
  /** The environment of every command of the scene: the server's address and a canary key. */
  readonly env: Readonly<Record<string, string>>;
  readonly key: string;
  /** Runs any command of foley. */
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  start(args: readonly string[], options?: RunOptions): Promise<Running>;
  /** Runs a line of a shell, in which `foley` is this one. */
  shell(script: string): Promise<ShellResult>;
  /** Runs `foley tts hi` into `hi.mp3`, without retries; `more` takes the place of these flags. */
  speak(more?: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** The same, with what its JSON error line says; fails when it succeeds. */
  fail(more?: readonly string[], options?: RunOptions): Promise<ErrorLine>;
}

export interface FixtureOptions extends FaultServerOptions, SandboxOptions {
  /** The one key that the healthy part of the service accepts; by default any. */
  readonly key?: string;
}

/** A fault in the tool must not take this computer's devices away, even where the tests run as root. */
export const NO_RIGHTS = { unprivileged: true };

/** How to wait for what comes soon, even on a computer that has other things to do. */
export const SOON = { interval: 10, timeout: 60_000 };

/** The words of the command that nearly every test of this folder runs. */
export const SPEAK = ['tts', 'hi', '-v', VOICE, '-o', 'hi.mp3', '--max-retries', '0'] as const;

/** The same with more flags, which take the place of those of {@link SPEAK}. */
export function speakWith(more: readonly string[]): readonly string[] {
  const [command, text, ...flags] = SPEAK;
  const usual = [0, 2, 4].map((at) => flags.slice(at, at + 2));
  return [
    command,
    text,
    ...usual.flatMap((pair) => (more.includes(`${pair[0]}`) ? [] : pair)),
    ...more,
  ];
}

/** Sets the scene: `rules` come first, what they leave is answered by a service in good health. */
export async function createFixture(
  rules: readonly Rule[],
  options: FixtureOptions = {},
): Promise<Fixture> {
  const audio = await paidAudio();
  const { key } = options;
  const healthy = healthyService({ audio, ...(key === undefined ? {} : { key }) });
  const server = await startFaultServer([...rules, ...healthy], options);
  const sandbox = await createSandbox(options);
  const env = hosted(server, key === undefined ? {} : { FOLEY_API_KEY: key });
  const inside = (more: RunOptions = {}): RunOptions => ({
    sandbox,
    ...more,
    env: { ...env, ...more.env },
  });
  const run: Fixture['run'] = (args, more) => runFoley(args, inside(more));
  const speak: Fixture['speak'] = (args = [], more = {}) => run(speakWith(args), more);
  return {
    server,
    sandbox,
    env,
    key: env['FOLEY_API_KEY'] ?? '',
    run,
    start: (args, more) => startFoley(args, inside(more)),
    shell: (script) => inShell(script, { sandbox, env }),
    speak,
    fail: async (args = [], more = {}) => errorLine(await speak([...args, '--json'], more)),
  };
}

/** The sounds of a service that says what they cost. */
export async function paidAudio(): Promise<TinyAudio> {
  const { mp3, ogg, wav } = await tinyAudio();
  return {
    mp3: { ...mp3, headers: PAID },
    ogg: { ...ogg, headers: PAID },
    wav: { ...wav, headers: PAID },
  };
}

/** A rule for the speech request. */
export function onSpeech(
  answer: Answer,
  more: Pick<Rule, 'nth' | 'times' | 'optional'> = {},
): Rule {
  return { method: 'POST', path: SPEECH_PATH, answer, ...more };
}

/** Every speech request that came. */
export function speechRequests({ server }: Pick<Fixture, 'server'>): readonly RecordedRequest[] {
  return server.requests.filter(({ path: asked }) => asked === SPEECH_PATH);
}

/** Checks that so many speech requests came, all under one key and with one body. */
export function expectOneKey(fixture: Pick<Fixture, 'server'>, count: number): string {
  const requests = speechRequests(fixture);
  expect(requests).toHaveLength(count);
  const keys = requests.map((request) => request.header('idempotency-key') ?? 'none');
  expect(new Set(keys).size, `one key for all: ${keys.join(', ')}`).toBe(1);
  expect(keys[0]).toMatch(/^[\w-]{16,128}$/);
  expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
  return keys[0] ?? '';
}

/**
 * Every file in the sandbox, names of its own making shortened: `out/hi.mp3`,
 * `state/foley/spool/ID.mp3`. What a test expects of the disk it says whole, so that debris is seen. Compiled
 * code and the names that completion remembers are no debris, and are left out.
 */
export async function filesLeft({ root }: Sandbox): Promise<string[]> {
  return filesOf(await snapshot(root))
    .filter((name) => !/^cache\/foley\/(?:code|names)\//.test(name))
    .map((name) =>
      name
        .replace(/\d{8}T\d{6}Z(-\d+)?-[0-9a-f]{8}/, 'ID')
        .replace(/\.foley-[0-9a-f-]+\.part/, 'TEMPORARY'),
    )
    .sort();
}

/** Files that a failure leaves which was paid for: audio and what is known of it, in the spool. */
export const KEPT = ['state/foley/spool/ID.json', 'state/foley/spool/ID.mp3'];
/** The journal entry by which `foley recover` finds a request without a known outcome. */
export const OPEN = 'state/foley/journal/ID.jsonl';
/** Prices that were seen. */
export const RATES = 'state/foley/credit-rates.json';

/** The only entry of the spool. */
export async function spooled({ state, root }: Sandbox) {
  const folder = path.join(state, 'foley', 'spool');
  const names = filesOf(await snapshot(root))
    .filter((name) => name.startsWith('state/foley/spool/'))
    .map((name) => path.basename(name));
  const sidecar = names.find((name) => name.endsWith('.json')) ?? 'none.json';
  const audio = names.find((name) => !name.endsWith('.json')) ?? 'none';
  expect(names.sort()).toStrictEqual([audio, sidecar].sort());
  const record: unknown = JSON.parse(await readFile(path.join(folder, sidecar), 'utf8'));
  return {
    audio: await readFile(path.join(folder, audio)),
    record: Object.fromEntries(Object.entries(Object(record))),
  };
}

/** Reads what is in the output folder. */
export function outputOf({ out }: Sandbox, name = 'hi.mp3'): Promise<Buffer> {
  return readFile(path.join(out, name));
}

/** Makes a command trust a certificate as its own authority. */
export async function trusting(
  { certificate }: Certificate,
  { harness }: Sandbox,
): Promise<Record<string, string>> {
  const file = path.join(harness, 'authority.pem');
  await writeFile(file, certificate);
  return { NODE_EXTRA_CA_CERTS: file };
}
