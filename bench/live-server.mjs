// A realtime service that only sends: as many bytes as the path says, as fast as they are taken
// (/500000000/16384/v3/tts/live), or one frame every so many milliseconds, with the time in it (/every/2/400/…).
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { decode, encode } from '@msgpack/msgpack';
import { WebSocketServer } from 'ws';

const SUBPROTOCOL = 'realtime.tts.msgpack.v3';
const MOST_UNSENT = 4_000_000;
const common = { requestId: 'bench', sessionId: 'bench', segmentId: 's1', format: 'pcm' };

const http = createServer((_request, response) => response.writeHead(404).end());
const sockets = new WebSocketServer({
  server: http,
  perMessageDeflate: false,
  handleProtocols: () => SUBPROTOCOL,
});
sockets.on('connection', (socket, { url }) => {
  const send = (event, fields = {}) => socket.send(encode({ event, ...common, ...fields }));
  const calm = new EventEmitter();
  const isStopped = once(calm, 'stop');
  socket.on('error', () => {});
  send('authenticated', { site: 'bench', protocolVersion: 'v3', quota: 1 });
  socket.on('message', async (data) => {
    const { event } = decode(data);
    if (event === 'start')
      send('ready', { modelId: 'm', voiceId: 'v', sampleRate: 24_000, channels: 1, bitDepth: 16 });
    // The client says `stop` at once: all has to be spoken before it is answered.
    if (event === 'stop') calm.emit('stop');
    if (event !== 'flush') return;
    send('segment_accepted', { reservedUnits: 1 });
    const audioBytes = await speak(socket, url.split('/'));
    send('segment_completed', { segmentUnits: 1, audioBytes });
    await isStopped;
    send('finish', { reason: 'completed', units: 1 });
  });
});

async function speak(socket, [, first, second, third]) {
  return first === 'every'
    ? speakInTime(socket, Number(second), Number(third))
    : speakFast(socket, Number(first), Number(second));
}

function frame(sequence, audio) {
  return encode({
    event: 'audio',
    eventId: 'e',
    traceId: 't',
    timestamp: 0,
    ...common,
    sequence,
    audio,
  });
}

async function speakFast(socket, bytes, size) {
  const gone = once(socket, 'close');
  const audio = Buffer.alloc(size, 1);
  for (let sent = 0, sequence = 1; sent < bytes; sent += size, sequence += 1) {
    if (socket.readyState !== socket.OPEN) return sent;
    socket.send(frame(sequence, audio));
    if (socket.bufferedAmount < MOST_UNSENT) continue;
    await Promise.race([once(socket._socket, 'drain'), gone]);
  }
  return Math.ceil(bytes / size) * size;
}

/** Each frame begins with the nanoseconds at which it was sent, on the clock of the machine. */
async function speakInTime(socket, everyMs, count) {
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const audio = Buffer.alloc(1_920);
    audio.writeBigUInt64LE(process.hrtime.bigint());
    socket.send(frame(sequence, audio));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return count * 1_920;
}

http.listen(0, '127.0.0.1', () => process.send({ port: http.address().port }));
process.on('disconnect', () => process.exit());
