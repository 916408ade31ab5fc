// A loopback server that answers every speech request with as many bytes of mp3 as its path asks
// for; it runs in a process of its own, so that it takes no time from who is measured.
import { createServer } from 'node:http';

/** A frame of silence: MPEG 1 layer III, 128 kbit/s, 44.1 kHz, mono, 417 bytes. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc0]), Buffer.alloc(413)]);
const BLOCK = Buffer.concat(Array.from({ length: 2_500 }, () => FRAME));

const server = createServer((request, response) => {
  const wanted = Number(/^\/(\d+)\//.exec(request.url)?.[1] ?? 0);
  const frames = Math.round(wanted / FRAME.length);
  request.resume();
  request.on('end', () => {
    response.writeHead(200, {
      'Content-Type': 'audio/mpeg',
      'Content-Length': frames * FRAME.length,
      'X-Request-Id': 'bench',
      'X-OpenAPI-Credits-Used': '1',
    });
    send(response, frames * FRAME.length);
  });
});

function send(response, left) {
  while (left > 0) {
    const block = left >= BLOCK.length ? BLOCK : BLOCK.subarray(0, left);
    left -= block.length;
    if (!response.write(block)) {
      response.once('drain', () => send(response, left));
      return;
    }
  }
  response.end();
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
