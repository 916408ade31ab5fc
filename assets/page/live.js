// One conversation of realtime speech (docs/protocol.md), in simple mode: a ticket, a text, sound while it is
// made. MessagePack is the published package; sound goes to the loudspeaker as it comes.
import { Speaker } from './speaker.js';

const { decode, encode } = globalThis.MessagePack;
const SUBPROTOCOL = 'realtime.tts.msgpack.v3';
const PATH = '/v3/tts/live';
/** Of ordinary speech; what counts until all of the sound is there. */
const CHARACTERS_A_SECOND = 14;

export class Conversation {
  /** Settles when all of it was heard, when it was stopped, or when it failed. */
  ended;
  #order;
  #socket = new WebSocket(`ws://${location.host}${PATH}`, [SUBPROTOCOL]);
  #speaker;
  #sent = 0;
  #bytes = 0;
  #isWhole = false;
  #done;
  #fail;

  /** @param order ticket, text, voiceId, modelId, and onLevel, onState, onWords, which are told how it goes */
  constructor(order) {
    this.#order = order;
    this.#speaker = new Speaker(order.onLevel, (heard, total) => this.#showWords(heard, total));
    const finished = new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
    });
    this.ended = this.#hearOut(finished);
    const socket = this.#socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => this.#send({ event: 'auth', token: order.ticket }));
    socket.addEventListener('message', ({ data }) => this.#take(decode(new Uint8Array(data))));
    socket.addEventListener('close', ({ code }) =>
      this.#fail(new Error(`The line was closed (${code})`)),
    );
  }

  stop() {
    this.#done('stopped');
  }

  #take(message) {
    const { modelId, onState, text, voiceId } = this.#order;
    switch (message.event) {
      case 'authenticated':
        onState('Speaking');
        this.#send({
          event: 'start',
          mode: 'simple',
          request: { voiceId, modelId, format: 'pcm' },
        });
        break;
      case 'ready':
        this.#send({ event: 'input', text, commit: true });
        break;
      case 'audio':
        this.#bytes += message.audio.byteLength;
        this.#speaker.play(message.audio, message);
        break;
      case 'usage':
        onState(`${message.sessionUnits} of ${[...text].length} characters made`);
        break;
      case 'error':
        // Nobody is there to correct what was sent, so that none of them is less than the end.
        this.#fail(new Error(`${message.code}: ${message.message}`));
        break;
      case 'finish':
        this.#done('whole');
        break;
    }
  }

  async #hearOut(finished) {
    const { onState, onWords, text } = this.#order;
    try {
      if ((await finished) === 'stopped') {
        onState('Stopped');
        return;
      }
      this.#isWhole = true;
      await this.#speaker.silence();
      onWords(text);
      onState(`Done: ${(this.#bytes / 1000).toFixed(0)} kB of sound`);
    } finally {
      this.#socket.close(1000);
      await this.#speaker.close();
    }
  }

  #showWords(heard, total) {
    const { onWords, text } = this.#order;
    const share = this.#isWhole ? heard / total : (heard * CHARACTERS_A_SECOND) / text.length;
    onWords(wordsUpTo(text, Math.round(share * text.length)));
  }

  #send(message) {
    this.#sent += 1;
    this.#socket.send(encode({ eventId: `page-${this.#sent}`, ...message }));
  }
}

/** The words that begin within the first so many characters. */
function wordsUpTo(text, characters) {
  const restOfWord = text.slice(characters).search(/\s|$/);
  return text.slice(0, characters + restOfWord);
}
