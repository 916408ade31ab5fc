import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { startServe } from '../../binary/support/serve.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { DOCUMENTS } from '../../validators/served-document.ts';

const PROGRAMS = fileURLToPath(new URL('.', import.meta.url));
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const WORK = path.join(MODULES, '.cache', 'generated-clients');
const TSC = path.join(MODULES, 'typescript/bin/tsc');
const MINUTE = 60_000;
const LIMITS = { timeout: 20 * MINUTE };

const GENERATOR_VERSION = '7.25.0';
const GENERATOR = path.join(WORK, `openapi-generator-cli-${GENERATOR_VERSION}.jar`);
const COPY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const WITHOUT_TESTS = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
const TYPESCRIPT_OPTIONS = [
  ...'--ignoreConfig --strict --target es2022 --module nodenext --skipLibCheck'.split(' '),
  '--types',
  'node',
  '--typeRoots',
  path.join(MODULES, '@types'),
];

interface Client {
  /** Has the document of the service in openapi.json. */
  readonly folder: string;
  readonly serving: ServingFoley;
}

/** Starts a service, and empties the folder of a client, except for what its compiler keeps. */
async function clientIn(name: string, made = 'client'): Promise<Client> {
  const folder = path.join(WORK, name);
  for (const stale of [made, 'speech.mp3', 'aligned.txt']) {
    await rm(path.join(folder, stale), { recursive: true, force: true });
  }
  await mkdir(folder, { recursive: true });
  const serving = await startServe([], { timeoutMs: 20 * MINUTE });
  const { bytes } = await serving.ask(DOCUMENTS[0]);
  await writeFile(path.join(folder, 'openapi.json'), bytes);
  return { folder, serving };
}

/** The same, with the files of its program. */
async function programIn(name: string, made?: string): Promise<Client> {
  const client = await clientIn(name, made);
  await cp(path.join(PROGRAMS, name), client.folder, { recursive: true });
  return client;
}

/** Runs a program in the folder of a client. @returns what it prints */
async function run(client: Client, file: string, ...args: readonly string[]): Promise<string> {
  const { all, exitCode, stdout } = await execa(file, args, {
    cwd: client.folder,
    env: client.serving.env,
    all: true,
    reject: false,
    timeout: 10 * MINUTE,
  });
  expect(exitCode, all).toBe(0);
  return stdout;
}

/** Makes a client with openapi-generator, which Maven downloads once. */
async function generate(client: Client, language: string, ...flags: string[]): Promise<void> {
  const [maven, java] = [requireTool('mvn'), requireTool('java')];
  const artifact = `org.openapitools:openapi-generator-cli:${GENERATOR_VERSION}`;
  const copy = [COPY_PLUGIN, `-Dartifact=${artifact}`, `-DoutputDirectory=${WORK}`];
  await run(client, maven, '-q', '-B', ...copy);
  const input = ['-i', 'openapi.json', '-g', language, '--global-property', WITHOUT_TESTS];
  await run(client, java, '-jar', GENERATOR, 'generate', ...input, ...flags);
}

/** Runs the program of a client, which lists voices, saves speech and reads an error. */
async function expectSpeech(client: Client, file: string, ...args: string[]): Promise<void> {
  expect(await run(client, file, ...args)).toMatch(/^[1-9]\d* ERR_VOICE_NOT_FOUND$/);
  await expectWords(await readFile(path.join(client.folder, 'speech.mp3')));
  const events = await readFile(path.join(client.folder, 'aligned.txt'), 'utf8');
  const packets = [...events.matchAll(/"audioBase64":"([^"]+)"/g)];
  await expectWords(Buffer.concat(packets.map(([, text = '']) => Buffer.from(text, 'base64'))));
  expect(events).toContain('event: completed');
}

async function expectWords(bytes: Uint8Array): Promise<void> {
  const audio = await decodeAudio(bytes);
  expect(audio.format).toBe('mp3');
  expect(audio.durationMs).toBeGreaterThan(600);
}

async function expectSpeechOf(client: Client, program: string): Promise<void> {
  await writeFile(path.join(client.folder, 'main.mts'), program);
  await run(client, process.execPath, TSC, ...TYPESCRIPT_OPTIONS, 'main.mts');
  await expectSpeech(client, process.execPath, 'main.mjs');
}

test('every path of the OpenAPI document returns the same document', async () => {
  const { ask } = await startServe();
  const served = await Promise.all(DOCUMENTS.map(async (from) => ask(from)));
  const documents = served.map(({ bytes }) => JSON.parse(bytes.toString()));
  expect(documents).toEqual(documents.map(() => documents[0]));
});

describe('the client of openapi-generator lists voices, saves speech and reads errors', () => {
  test('in Python', LIMITS, async () => {
    const client = await programIn('python', 'openapi_client');
    await generate(client, 'python', '-o', '.');
    const bin = await installPythonTools(path.join(PROGRAMS, 'python/requirements.txt'));
    await expectSpeech(client, path.join(bin, 'python'), 'main.py');
  });

  test('in TypeScript', LIMITS, async () => {
    // The compiler writes no files of packages, so that this client cannot be in node_modules.
    const { folder, serving } = await clientIn('typescript-fetch');
    const client = { folder: serving.running.sandbox.out, serving };
    await cp(path.join(folder, 'openapi.json'), path.join(client.folder, 'openapi.json'));
    const extension = '--additional-properties=importFileExtension=.js';
    await generate(client, 'typescript-fetch', '-o', 'client', extension);
    await writeFile(path.join(client.folder, 'package.json'), '{"type":"module"}');
    await expectSpeechOf(client, TYPESCRIPT_FETCH);
  });

  test('in Java', LIMITS, async () => {
    const client = await clientIn('java', 'src');
    const { folder } = client;
    await generate(client, 'java', '-o', '.', '--library', 'native');
    await cp(path.join(PROGRAMS, 'java/pom.xml'), path.join(folder, 'pom.xml'));
    await cp(path.join(PROGRAMS, 'java/Main.java'), path.join(folder, 'src/main/java/Main.java'));
    const list = path.join(folder, 'classpath.txt');
    const goals = ['compiler:compile', 'dependency:build-classpath', `-Dmdep.outputFile=${list}`];
    await run(client, requireTool('mvn'), '-q', '-B', ...goals);
    const classes = `target/classes${path.delimiter}${await readFile(list, 'utf8')}`;
    await expectSpeech(client, requireTool('java'), '-cp', classes, 'Main');
  });

  test('in Go', LIMITS, async () => {
    const go = requireTool('go');
    const client = await programIn('go', 'speech');
    const names = '--additional-properties=withGoMod=false,packageName=speech';
    await generate(client, 'go', '-o', 'speech', names);
    await run(client, go, 'build', '-o', 'speak', '.');
    await expectSpeech(client, path.join(client.folder, 'speak'));
  });

  test('in Rust', LIMITS, async () => {
    const cargo = requireTool('cargo');
    const client = await programIn('rust', 'openapi');
    await generate(client, 'rust', '-o', 'openapi');
    await run(client, cargo, 'build', '--quiet', '--locked');
    await expectSpeech(client, path.join(client.folder, 'target/debug/speak'));
  });
});

describe('lists voices, saves speech and reads errors', () => {
  test('the client of openapi-python-client', LIMITS, async () => {
    const client = await programIn('openapi-python-client');
    const bin = await installPythonTools(path.join(client.folder, 'requirements.txt'));
    const flags = '--path openapi.json --output-path client --meta none --config config.yaml';
    const generator = path.join(bin, 'openapi-python-client');
    await run(client, generator, 'generate', ...flags.split(' '));
    await expectSpeech(client, path.join(bin, 'python'), 'main.py');
  });

  test('openapi-fetch with the types of openapi-typescript', LIMITS, async () => {
    const client = await programIn('openapi-typescript', 'schema.d.ts');
    await run(client, 'npm', 'ci', '--ignore-scripts', '--prefer-offline');
    const generator = 'node_modules/openapi-typescript/bin/cli.js';
    const flags = ['--default-non-nullable=false', '-o', 'schema.d.ts'];
    await run(client, process.execPath, generator, 'openapi.json', ...flags);
    await expectSpeechOf(client, OPENAPI_FETCH);
  });

  test('the client of ogen', LIMITS, async () => {
    const go = requireTool('go');
    const client = await programIn('ogen', 'speech');
    const flags = ['--target', 'speech', '--package', 'speech'];
    await run(client, go, 'tool', 'ogen', ...flags, 'openapi.json');
    await run(client, go, 'build', '-o', 'speak', '.');
    await expectSpeech(client, path.join(client.folder, 'speak'));
  });
});

/** Uses the client that openapi-generator makes for TypeScript. Prints the number of voices and an error code. */
const TYPESCRIPT_FETCH = `import { writeFile } from 'node:fs/promises';
import { Configuration, ResponseError, SpeechApi, VoicesApi } from './client/index.js';

const { FOLEY_BASE_URL: basePath = '', FOLEY_API_KEY: accessToken = '' } = process.env;
const configuration = new Configuration({ basePath, accessToken });
const { items } = await new VoicesApi(configuration).listVoices({ pageSize: 100 });
const speech = new SpeechApi(configuration);
const speechRequest = { text: 'Hello from TypeScript.', voiceId: items[0]?.voiceId ?? '' };
const audio: Blob = await speech.createSpeech({ speechRequest });
await writeFile('speech.mp3', Buffer.from(await audio.arrayBuffer()));
const events: Blob = await speech.createAlignedSpeech({ speechRequest });
await writeFile('aligned.txt', await events.text());
try {
  await speech.createSpeech({ speechRequest: { text: 'Hello.', voiceId: 'nobody' } });
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  console.log(items.length, (await error.response.json()).code);
}
`;

/** Uses openapi-fetch with the types that openapi-typescript makes. Prints the same. */
const OPENAPI_FETCH = `import { writeFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const { FOLEY_BASE_URL: baseUrl = '', FOLEY_API_KEY: key } = process.env;
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
const query = { pageSize: 100 };
const { data: voices } = await client.GET('/api/open/v3/voices', { params: { query } });
const items = voices?.items ?? [];
const body = { text: 'Hello from TypeScript.', voiceId: items[0]?.voiceId ?? '' };
const speech = '/api/open/v3/speech/tts';
const { response: spoken } = await client.POST(speech, { body, parseAs: 'stream' });
await writeFile('speech.mp3', Buffer.from(await spoken.arrayBuffer()));
const aligned = await client.POST(\`\${speech}/aligned\`, { body, parseAs: 'text' });
await writeFile('aligned.txt', aligned.data ?? '');
const { error } = await client.POST(speech, { body: { ...body, voiceId: 'nobody' } });
console.log(items.length, error?.code);
`;
