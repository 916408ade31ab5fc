// A loopback server for jobs that take 30 ms each and say `Retry-After: 0`; it runs in a process of
// its own, so that it takes no time from who is measured.
import { createServer } from 'node:http';

const WORK_MS = 30;
/** A frame of silence: MPEG 1 layer III, 128 kbit/s, 44.1 kHz, mono, 417 bytes. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc0]), Buffer.alloc(413)]);
const AUDIO = Buffer.concat(Array.from({ length: 40 }, () => FRAME));
const JOBS = '/api/open/v3/speech/tts/jobs';

/** When each job was accepted. */
const accepted = new Map();
let requests = 0;

const server = createServer((request, response) => {
  requests += 1;
  const { pathname } = new URL(request.url, 'http://localhost');
  const [, jobId, part] = new RegExp(`^${JOBS}(?:/([^/]+))?(/audio)?$`).exec(pathname) ?? [];
  request.resume();
  request.on('end', () => {
    if (request.method === 'POST' && pathname === JOBS) accept(response);
    else if (!accepted.has(jobId))
      answer(response, 404, { code: 'ERR_NOT_FOUND', message: pathname });
    else if (part === undefined) answer(response, 200, stateOf(jobId), retryAfter(jobId));
    else sendAudio(response);
  });
});

function accept(response) {
  const jobId = `job-${accepted.size + 1}`;
  accepted.set(jobId, performance.now());
  const headers = { Location: `${JOBS}/${jobId}`, 'Retry-After': '0' };
  answer(response, 202, stateOf(jobId), headers);
}

function isDone(jobId) {
  return performance.now() - accepted.get(jobId) >= WORK_MS;
}

function retryAfter(jobId) {
  return isDone(jobId) ? {} : { 'Retry-After': '0' };
}

function stateOf(jobId) {
  const status = isDone(jobId) ? 'success' : 'processing';
  return {
    task: {
      taskId: jobId,
      status,
      voiceId: 'v',
      modelId: 'm',
      format: 'mp3',
      characters: 20,
      creditsUsed: 20,
      textPreview: '',
      textFingerprint: '',
      createdAt: '2026-01-01T00:00:00Z',
      audioUrl: status === 'success' ? `${JOBS}/${jobId}/audio` : null,
      durationMs: status === 'success' ? 1_045 : null,
      finishedAt: null,
      segments: [],
      error: null,
    },
    requestId: 'bench',
    quotaRemaining: 1_000_000,
    creditsUsed: 20,
    ignoredParameters: [],
  };
}

function answer(response, status, body, headers = {}) {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    'X-Request-Id': 'bench',
    ...headers,
  });
  response.end(bytes);
}

function sendAudio(response) {
  response.writeHead(200, { 'Content-Type': 'audio/mpeg', 'Content-Length': AUDIO.length });
  response.end(AUDIO);
}

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => {
  process.send({ jobs: accepted.size, requests });
  accepted.clear();
  requests = 0;
});
process.on('disconnect', () => process.exit());
