// Four servers of OpenAI's interface: `speech-servers.mjs SECONDS [SENTENCES]`. Each speaks one sentence at a time, in
// SECONDS. If SENTENCES is given, the last one is dead in the second half of each so many. Prints their URLs, one a line.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const [seconds, sentences = Infinity] = process.argv.slice(2).map(Number);
const RATE = 24_000;

/** Half a second of a tone, as a wav file. */
function speech() {
  const samples = Int16Array.from({ length: RATE / 2 }, (_, at) =>
    Math.round(6_000 * Math.sin((2 * Math.PI * 300 * at) / RATE)),
  );
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.byteLength, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([head, Buffer.from(samples.buffer)]);
}

const audio = speech();
const servers = [];
let begun = 0;
const isDead = () => begun % sentences >= sentences / 2;
for (let index = 0; index < 4; index += 1) {
  let last = Promise.resolve();
  const server = createServer(async (request, response) => {
    if (index === 3 && isDead()) return void request.destroy();
    if (request.method === 'GET') return void response.end('{"voices":["tone"]}');
    for await (const _ of request);
    begun += 1;
    if (isDead()) servers.at(-1).closeAllConnections();
    const before = last;
    last = before.then(() => pause(seconds * 1_000));
    await last;
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(audio);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
}
