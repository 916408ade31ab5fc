// An engine of version 2 that records its starts: `node counted.mjs FILE LOADING_MS`. Each start adds its process id.
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file, loadingMs = '0'] = process.argv;
appendFileSync(file, `${process.pid}\n`);
const starts = readFileSync(file, 'utf8').trim().split('\n').length;
const voices = [{ id: 'counted', language: 'en', sampleRate: 48_000, textNormalization: true }];
const version = { protocol: 2, version: '1', license: 'MIT' };

async function send(message, pcm = Buffer.alloc(0)) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  if (!process.stdout.write(pcm)) await once(process.stdout, 'drain');
}

async function speak({ id, text }) {
  if (text.includes('Hangs at first') && starts === 1) return;
  const parts = text.includes('For long') ? 100 : 2;
  for (let part = 0; part < parts; part += 1) {
    const pcm = Buffer.from(
      Int16Array.from({ length: 48_000 }, (_, at) => (at % 100) * 100).buffer,
    );
    await send({ type: 'audio', id, bytes: pcm.length }, pcm);
    if (text.includes('Hangs later')) return;
    if (!text.includes('Crashes')) continue;
    process.stderr.write('out of memory\n');
    process.exitCode = 7;
    lines.close();
    return;
  }
  await send({ type: 'done', id });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.type === 'hello') {
    await send({ type: 'loading', message: 'loading the model' });
    setTimeout(() => void send({ type: 'hello', ...version, voices }), Number(loadingMs));
  }
  if (message.type === 'speak') await speak(message);
  if (message.type === 'cancel') await send({ type: 'done', id: message.id });
});
