// The least that a client of jobs can do, as a peer of `foley batch`: it creates, polls and downloads over node:http, and
// renames each file after syncing it to disk. It has no journal, no keys, no retries and no check of the audio.
// Arguments: base URL, file of lines, output folder, number of items at a time, work of a job in milliseconds.
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const JOBS = '/api/open/v3/speech/tts/jobs';
const POLL_MS = 3;
const [base, file, out, concurrency, workMs] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const items = readFileSync(file, 'utf8').trim().split('\n').entries();

await Promise.all(Array.from({ length: Number(concurrency) }, speakItems));

async function speakItems() {
  for (const [index, text] of items) {
    const created = await send('POST', JOBS, JSON.stringify({ text, voiceId: 'v' }));
    created.resume();
    const job = created.headers.location;
    await sleep(Number(workMs) + 1);
    while ((await json(await send('GET', job))).task.status !== 'success') await sleep(POLL_MS);
    await save(`${index + 1}.mp3`, await buffer(await send('GET', `${job}/audio`)));
  }
}

async function save(name, audio) {
  const temporary = path.join(out, `.${name}`);
  const handle = await open(temporary, 'wx');
  await handle.write(audio);
  await handle.sync();
  await handle.close();
  await rename(temporary, path.join(out, name));
}

function send(method, place, body = '') {
  const headers = {
    Authorization: 'Bearer bench',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    request(base + place, { method, agent, headers }, resolve)
      .on('error', reject)
      .end(body);
  });
}
