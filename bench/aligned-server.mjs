// A loopback server that answers every request with as many bytes of aligned speech as its path asks
// for: audio and times of words as server-sent events. It runs in a process of its own.
import { createServer } from 'node:http';
import { COMPLETED, streamBlocks } from './aligned-stream.mjs';

/** Made before, so that the server is never who is waited for. */
const BLOCKS = streamBlocks();

const server = createServer((request, response) => {
  const wanted = Number(/^\/(\d+)\//.exec(request.url)?.[1] ?? 0);
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-OpenAPI-Credits-Used': '1' });
    send(response, wanted, 0);
  });
});

function send(response, left, chunkSeq) {
  let rest = left;
  for (let seq = chunkSeq; rest > 0; seq += 1) {
    const block = BLOCKS[seq % BLOCKS.length];
    rest -= block.length;
    if (!response.write(block)) {
      response.once('drain', () => send(response, rest, seq + 1));
      return;
    }
  }
  response.end(COMPLETED);
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
