import { writeFile } from 'node:fs/promises';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';

/** Opens the service on a data directory, has one sentence spoken into a file, and closes it. */
async function main([dataDir = '', file = '', text = '']: readonly string[]): Promise<void> {
  const { isStoreError, openService } = await import('../../../src/service/index.ts');
  try {
    const service = await openService({ dataDir });
    const { baseUrl, apiKey } = service;
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${baseUrl}/api/open/v3/speech/tts`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ text, voiceId: VOICES[0]?.id }),
    });
    await writeFile(file, new Uint8Array(await response.arrayBuffer()));
    const profile: unknown = await (
      await fetch(`${baseUrl}/api/open/v1/profile`, { headers })
    ).json();
    await service.close();
    const { status } = response;
    const key = apiKey.length > 30 ? 'long' : 'short';
    process.stdout.write(JSON.stringify({ status, key, credits: Object(profile).credits }));
  } catch (error) {
    if (!isStoreError(error)) throw error;
    process.stdout.write(JSON.stringify({ reason: error.reason, message: error.message }));
  }
}

void main(process.argv.slice(2));
