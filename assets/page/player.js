// The bar that plays: one sound at a time, its words highlighted while they are spoken.
const one = (selector) => document.querySelector(selector);

export class Player {
  #audio = one('#player');
  #onChange;
  /** What Replay plays, and a download saves, once it is whole. */
  #kept;
  #wordsOf = () => [];
  #text = '';
  #marks = [];
  #frame = 0;

  /** @param onChange called when playback begins or ends */
  constructor(onChange) {
    this.#onChange = onChange;
    const audio = this.#audio;
    for (const event of ['play', 'pause', 'ended']) {
      audio.addEventListener(event, () => this.#showState());
    }
    for (const event of ['timeupdate', 'durationchange', 'seeked']) {
      audio.addEventListener(event, () => this.#showTime());
    }
    one('#play').addEventListener('click', () => {
      if (this.isPlaying) audio.pause();
      else this.#resume();
    });
    one('#position').addEventListener('input', ({ target }) => this.#seek(Number(target.value)));
  }

  get isPlaying() {
    return !this.#audio.paused && !this.#audio.ended;
  }

  /**
   * Plays from the beginning; resolves when playback has begun.
   * @param address of the sound @param about its title
   */
  async play(address, { title }) {
    one('#player-bar').hidden = false;
    one('#playing').textContent = title;
    this.#audio.src = address;
    await this.#audio.play();
  }

  /**
   * Offers the whole sound for replay and download.
   * @param address of the sound @param name of its file, where the service has none for it
   */
  keep(address, name = '') {
    this.#kept = address;
    const link = one('#download');
    link.href = name === '' ? `${address}?download=1` : address;
    link.download = name;
    link.hidden = false;
    this.#showState();
  }

  /** Ends playback at once; an unfinished sound is let go. */
  stop() {
    const audio = this.#audio;
    audio.pause();
    if (this.#kept === undefined) {
      audio.removeAttribute('src');
      one('#player-bar').hidden = true;
    } else if (audio.src !== '') audio.currentTime = 0;
    this.#mark(-1);
  }

  /**
   * Shows the text whose words are spoken, and forgets the sound before.
   * @param wordsOf gives the words with their times, by the duration of the sound
   */
  showText(text, wordsOf = () => []) {
    if (this.#kept?.startsWith('blob:')) URL.revokeObjectURL(this.#kept);
    this.#kept = undefined;
    this.#wordsOf = wordsOf;
    this.#text = text;
    this.#marks = [];
    one('#download').hidden = true;
    one('#words').hidden = text === '';
    one('#words').textContent = text;
    if (text !== '') one('#words').scrollIntoView({ block: 'nearest' });
  }

  #resume() {
    if (this.#audio.ended) this.#playWhole();
    this.#audio.play().catch(() => undefined);
  }

  /** @param share of the duration */
  #seek(share) {
    const audio = this.#audio;
    const { duration, paused } = audio;
    if (!Number.isFinite(duration)) return;
    this.#playWhole();
    audio.currentTime = share * duration;
    if (!paused) audio.play().catch(() => undefined);
  }

  /** A stream that was heard may have let go of its beginning: what is whole takes its place. */
  #playWhole() {
    if (this.#kept !== undefined && !this.#audio.src.endsWith(this.#kept)) {
      this.#audio.src = this.#kept;
    }
  }

  #showState() {
    const { ended } = this.#audio;
    one('#play').textContent = this.isPlaying ? 'Pause' : ended ? 'Replay' : 'Play';
    cancelAnimationFrame(this.#frame);
    if (this.isPlaying) this.#follow();
    else if (ended) this.#mark(-1);
    this.#onChange();
  }

  #showTime() {
    const { currentTime, duration } = this.#audio;
    const whole = Number.isFinite(duration) && duration > 0;
    one('#position').value = String(whole ? currentTime / duration : 0);
    one('#position').disabled = !whole;
    one('#position').ariaValueText = clock(currentTime);
    one('#time').textContent = whole
      ? `${clock(currentTime)} / ${clock(duration)}`
      : clock(currentTime);
  }

  #follow() {
    const { currentTime, duration } = this.#audio;
    const words = this.#wordsOf(duration);
    if (words.length !== this.#marks.length) this.#divide(words);
    this.#mark(
      words.findLastIndex(({ start }) => start <= currentTime),
      currentTime,
      words,
    );
    this.#frame = requestAnimationFrame(() => this.#follow());
  }

  /** Puts each word of the text into an element of its own. */
  #divide(words) {
    let from = 0;
    const parts = [];
    this.#marks = words.map(({ at, length }, index) => {
      const mark = document.createElement('span');
      const next = words[index + 1]?.at ?? this.#text.length;
      // What follows without a space, such as a full stop, belongs to the word.
      const [after] = /^\S*/.exec(this.#text.slice(at + length, next));
      mark.textContent = this.#text.slice(at, at + length) + after;
      parts.push(this.#text.slice(from, at), mark);
      from = at + length + after.length;
      return mark;
    });
    one('#words').replaceChildren(...parts, this.#text.slice(from));
  }

  #mark(index) {
    const before = one('#words .now');
    const mark = this.#marks[index];
    if (before === mark) return;
    before?.classList.remove('now');
    for (const [at, each] of this.#marks.entries()) each.classList.toggle('said', at < index);
    mark?.classList.add('now');
    if (mark !== undefined) keepInSight(mark);
  }
}

/** Scrolls the text, and never the page, which may have been scrolled to something else. */
function keepInSight({ offsetHeight, offsetTop, parentElement }) {
  const { clientHeight, scrollTop } = parentElement;
  const isInSight = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
  if (!isInSight) parentElement.scrollTop = offsetTop - clientHeight / 3;
}

function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
