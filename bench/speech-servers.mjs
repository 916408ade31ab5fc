// Four servers of OpenAI's interface. Each speaks one sentence at a time, in SECONDS. Prints their URLs, one a line.
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const SECONDS = Number(process.argv[2]);
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
for (let index = 0; index < 4; index += 1) {
  let last = Promise.resolve();
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end('{"voices":["tone"]}');
    for await (const _ of request);
    const before = last;
    last = before.then(() => pause(SECONDS * 1_000));
    await last;
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(audio);
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
}
