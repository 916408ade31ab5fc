// One text being spoken: the audio as it arrives, and the times of its words. A model with an aligned stream
// sends both as events; any other sends audio alone, and the times are estimated from its length.
const SPEECH = '/page/api/api/open/v3/speech/tts';
const STREAMED = 'audio/mpeg';
const TYPES = { mp3: STREAMED, wav: 'audio/wav', ogg: 'audio/ogg' };

export class Speech {
  /** The whole audio once it has arrived. */
  blob;
  #order;
  #isAligned;
  #parts = [];
  #words = new Map();
  #stopping = new AbortController();
  #stream;

  /**
   * @param order body of the speech request
   * @param isAligned whether its model has an aligned stream
   */
  constructor(order, isAligned) {
    this.#order = order;
    this.#isAligned = isAligned;
    const type = TYPES[order.format];
    if (type === STREAMED && globalThis.MediaSource?.isTypeSupported(STREAMED)) {
      this.#stream = new AudioStream();
    }
  }

  /** Whether the audio can be played before it is whole. */
  get isStreamed() {
    return this.#stream !== undefined;
  }

  /** Address for a player: of the stream while it arrives, then of the whole. */
  get address() {
    return this.blob === undefined ? this.#stream.address : URL.createObjectURL(this.blob);
  }

  get isStopped() {
    return this.#stopping.signal.aborted;
  }

  stop() {
    this.#stopping.abort();
  }

  /** Requests the audio; resolves when all of it is there. Rejects with the service's message. */
  async load() {
    const { signal } = this.#stopping;
    const response = await fetch(this.#isAligned ? `${SPEECH}/aligned` : SPEECH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(this.#order),
      signal,
    });
    if (!response.ok) throw new Error(await messageOf(response));
    if (this.#isAligned) await this.#readEvents(response.body);
    else for await (const bytes of chunksOf(response.body)) this.#take(bytes);
    this.blob = new Blob(withLengths(this.#parts, this.#order.format), {
      type: TYPES[this.#order.format],
    });
    this.#stream?.end();
  }

  /**
   * Words with where they begin in the text and when they are spoken.
   * @param duration of the whole audio in seconds, for words without times
   */
  words(duration) {
    const { text } = this.#order;
    const timed = [...this.#words].toSorted(([a], [b]) => a - b).flatMap(([, words]) => words);
    if (timed.length > 0) return placed(text, timed);
    if (this.#isAligned || !Number.isFinite(duration)) return [];
    return estimated(text, duration);
  }

  async #readEvents(body) {
    let isComplete = false;
    for await (const { data, event } of eventsOf(body)) {
      if (event === 'audio') this.#take(bytesOf(data.audioBase64));
      if (event === 'alignment_snapshot') this.#words.set(data.chunkSeq, data.words);
      if (event === 'alignment_invalidated') this.#words.delete(data.chunkSeq);
      if (event === 'error') throw new Error(`The speech broke off (${data.code})`);
      isComplete ||= event === 'completed';
    }
    if (!isComplete) throw new Error('The speech broke off');
  }

  #take(bytes) {
    this.#parts.push(bytes);
    this.#stream?.append(bytes);
  }
}

/** MP3 that is played while it arrives. */
class AudioStream {
  address;
  #source = new MediaSource();
  #buffer;
  #queue = [];
  #hasEnded = false;

  constructor() {
    this.address = URL.createObjectURL(this.#source);
    this.#source.addEventListener('sourceopen', () => this.#open(), { once: true });
  }

  append(bytes) {
    this.#queue.push(bytes);
    this.#feed();
  }

  end() {
    this.#hasEnded = true;
    this.#feed();
  }

  #open() {
    URL.revokeObjectURL(this.address);
    this.#buffer = this.#source.addSourceBuffer(STREAMED);
    this.#buffer.addEventListener('updateend', () => this.#feed());
    this.#feed();
  }

  #feed() {
    const buffer = this.#buffer;
    if (buffer === undefined || buffer.updating || this.#source.readyState !== 'open') return;
    const [next] = this.#queue;
    if (next === undefined) {
      if (this.#hasEnded) this.#source.endOfStream();
      return;
    }
    try {
      buffer.appendBuffer(next);
      this.#queue.shift();
    } catch (error) {
      if (error.name !== 'QuotaExceededError') throw error;
      // Browsers hold some minutes of sound: what was heard makes place for what comes.
      setTimeout(() => this.#forget(), 1000);
    }
  }

  #forget() {
    const end = document.querySelector('#player').currentTime - 1;
    if (end > 0 && !this.#buffer.updating) this.#buffer.remove(0, end);
    else setTimeout(() => this.#forget(), 1000);
  }
}

/** The message in an error of the service. */
export async function messageOf(response) {
  const body = await response.json().catch(() => ({}));
  return typeof body.message === 'string'
    ? body.message
    : `The service answered with status ${response.status}`;
}

async function* chunksOf(body) {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Server-sent events with JSON data. */
async function* eventsOf(body) {
  let rest = '';
  for await (const text of chunksOf(body.pipeThrough(new TextDecoderStream()))) {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.codePointAt(0));
}

/** A WAV that was streamed does not have its length in its header yet. */
function withLengths(parts, format) {
  if (format !== 'wav') return parts;
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  const view = new DataView(bytes.buffer);
  const data = String.fromCodePoint(...bytes.subarray(0, 256)).indexOf('data');
  view.setUint32(4, size - 8, true);
  view.setUint32(data + 4, size - data - 8, true);
  return [bytes];
}

/** Where each timed word stands in the text; one that is not found there is left out. */
function placed(text, words) {
  let from = 0;
  return words.flatMap(({ endMs, startMs, text: word }) => {
    const at = text.indexOf(word, from);
    if (at === -1) return [];
    from = at + word.length;
    return [{ at, length: word.length, start: startMs / 1000, end: endMs / 1000 }];
  });
}

/** Words at the share of the time that they have of the text. */
function estimated(text, duration) {
  const second = text.length / duration;
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index: at }) => ({
    at,
    length: word.length,
    start: at / second,
    end: (at + word.length) / second,
  }));
}
