/** What may be ahead of the loudspeaker before the first sound, in seconds. */
const LEAD = 0.1;

/** Plays samples of 16 bits, one piece behind the other. */
export class Speaker {
  #context = new AudioContext();
  #analyser = this.#context.createAnalyser();
  #samples = new Float32Array(this.#analyser.fftSize);
  #next = 0;
  #total = 0;
  #frame = 0;
  #onLevel;
  #onHeard;

  /** @param onLevel told how loud it is @param onHeard told how far it is, and of how much, in seconds */
  constructor(onLevel, onHeard) {
    this.#onLevel = onLevel;
    this.#onHeard = onHeard;
    this.#analyser.connect(this.#context.destination);
    this.#measure();
  }

  play(bytes, { channels = 1, sampleRate = 44_100 }) {
    const length = Math.floor(bytes.byteLength / 2 / channels);
    if (length === 0) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const buffer = this.#context.createBuffer(channels, length, sampleRate);
    for (let channel = 0; channel < channels; channel += 1) {
      const plane = buffer.getChannelData(channel);
      for (let at = 0; at < length; at += 1) {
        plane[at] = view.getInt16((at * channels + channel) * 2, true) / 32_768;
      }
    }
    this.#queue(buffer);
  }

  /** Resolves when all that was given has been heard. */
  silence() {
    const left = Math.max(0, this.#next - this.#context.currentTime);
    return new Promise((resolve) => {
      setTimeout(resolve, left * 1000);
    });
  }

  async close() {
    cancelAnimationFrame(this.#frame);
    this.#onLevel(0);
    await this.#context.close();
  }

  #queue(buffer) {
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#analyser);
    this.#next = Math.max(this.#next, this.#context.currentTime + LEAD);
    source.start(this.#next);
    this.#next += buffer.duration;
    this.#total += buffer.duration;
  }

  #measure() {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    this.#onLevel(this.#samples.reduce(louder, 0));
    const left = this.#next - this.#context.currentTime;
    if (this.#total > 0) this.#onHeard(Math.max(0, this.#total - left), this.#total);
    this.#frame = requestAnimationFrame(() => this.#measure());
  }
}

function louder(level, sample) {
  return Math.max(level, Math.abs(sample));
}
