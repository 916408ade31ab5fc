/** Uses the client that openapi-generator makes for TypeScript. Prints the number of voices and an error code. */
export const TYPESCRIPT_FETCH = `import { writeFile } from 'node:fs/promises';
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
export const OPENAPI_FETCH = `import { writeFile } from 'node:fs/promises';
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
