// The page of `foley batch --report report.html`. Everything it shows is in the page itself; it asks
// nobody for anything. What was written by a service or a person is put in as text, never as markup.
// Items come as they are done; they are shown as they were planned.
const items = [...document.querySelectorAll('script.item')]
  .map((one) => JSON.parse(one.textContent))
  .toSorted((one, other) => one.index - other.index);
const summary = JSON.parse(document.querySelector('#summary').textContent);
const storageKey = 'foley-report';
const list = document.querySelector('main');
const search = document.querySelector('#search');
const filter = document.querySelector('#filter');
const count = document.querySelector('#count');
const exportButton = document.querySelector('#export');
const audio = new Audio();
/** Of this report and of others: each is of one sound, so that what was spoken again bears none. */
const marks = new Set(remembered());
let current = -1;
let playing = -1;

const cards = items.map((item, index) => cardOf(item, index));
list.append(...cards.map(({ element }) => element));
document.querySelector('h1').textContent = summary.title;
search.addEventListener('input', showMatches);
filter.addEventListener('change', showMatches);
exportButton.addEventListener('click', exportRedo);
audio.addEventListener('timeupdate', showTime);
audio.addEventListener('play', showPlaying);
audio.addEventListener('pause', showPlaying);
audio.addEventListener('ended', () => showTime());
document.addEventListener('keydown', onKey);
document.addEventListener('click', leaveButton);
showPlaying();
showMatches();
showMarks();

function cardOf(item, index) {
  const element = make('article', item.status);
  const play = make('button', 'play');
  const icon = draw('path', {});
  const box = draw('svg', { viewBox: '0 0 16 16', width: 16, height: 16 });
  box.append(icon);
  play.append(box);
  play.hidden = item.audio === null;
  play.addEventListener('click', () => toggle(index));
  const text = make('p', 'text', item.text);
  text.dir = 'auto';
  const mark = make('button', 'mark');
  mark.addEventListener('click', () => toggleRedo(index));
  const wave = waveOf(item, index);
  const cue = make('p', 'cue');
  cue.hidden = item.cues.length === 0;
  cue.dir = 'auto';
  const problem = make('p', 'problem', item.problem ?? '');
  problem.hidden = item.problem === null;
  const facts = make('div', 'facts', item.facts.join(' · '));
  element.append(play, text, mark, wave.element, cue, problem, facts);
  element.addEventListener('click', () => select(index, false));
  const found = `${item.id}\n${item.text}\n${item.output ?? ''}`.toLowerCase();
  return { cue, element, found, icon, mark, play, wave };
}

function waveOf({ durationMs, waveform }, index) {
  const element = draw('svg', { class: 'wave', viewBox: `0 0 ${waveform.length} 44` });
  element.setAttribute('preserveAspectRatio', 'none');
  element.hidden = waveform.length === 0;
  const bars = waveform.map((level, at) => {
    const height = Math.max(1, level * 44);
    return `M${at} ${22 - height / 2}h.7v${height}h-.7z`;
  });
  const clip = `heard-${index}`;
  const heard = draw('rect', { x: 0, y: 0, width: 0, height: 44 });
  const shape = draw('clipPath', { id: clip });
  shape.append(heard);
  element.append(
    shape,
    draw('path', { class: 'unheard', d: bars.join('') }),
    draw('path', { class: 'heard', d: bars.join(''), 'clip-path': `url(#${clip})` }),
  );
  element.addEventListener('pointerdown', (event) => {
    const { left, width } = element.getBoundingClientRect();
    seek(index, ((event.clientX - left) / width) * (durationMs / 1000));
  });
  return {
    element,
    show: (share) => heard.setAttribute('width', String(share * waveform.length)),
  };
}

function toggle(index) {
  select(index, false);
  if (playing !== index) load(index);
  if (audio.paused) void audio.play();
  else audio.pause();
}

function seek(index, seconds) {
  if (items[index].audio === null) return;
  if (playing !== index) load(index);
  audio.currentTime = Math.max(0, seconds);
  if (audio.paused) void audio.play();
}

/** Sound becomes a file of the page's own when it is first played: three hundred at once are too many. */
function load(index) {
  if (playing !== -1) cards[playing].wave.show(0);
  playing = index;
  const item = items[index];
  item.url ??= URL.createObjectURL(
    new Blob([bytesOf(document.getElementById(item.audio).textContent)], { type: item.type }),
  );
  audio.src = item.url;
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
}

function showTime() {
  if (playing === -1) return;
  const { cues, durationMs } = items[playing];
  const at = audio.currentTime * 1000;
  cards[playing].wave.show(Math.min(1, at / durationMs));
  const cue = cues.find(({ endMs, startMs }) => at >= startMs && at < endMs);
  cards[playing].cue.textContent = cue?.text ?? '';
}

function showPlaying() {
  for (const [index, { icon, play }] of cards.entries()) {
    const isPlaying = index === playing && !audio.paused;
    icon.setAttribute('d', isPlaying ? 'M3 2h4v12H3zM9 2h4v12H9z' : 'M4 2l10 6-10 6z');
    play.title = isPlaying ? 'Pause' : 'Play';
  }
}

function isMarked({ mark }) {
  return marks.has(mark);
}

function toggleRedo(index) {
  const { mark } = items[index];
  if (!marks.delete(mark)) marks.add(mark);
  remember();
  showMarks();
  showMatches();
}

function showMarks() {
  for (const [index, { element, mark }] of cards.entries()) {
    const isRedo = isMarked(items[index]);
    element.classList.toggle('redo', isRedo);
    mark.textContent = isRedo ? 'Keep' : 'Redo';
    mark.setAttribute('aria-pressed', String(isRedo));
  }
  const { length } = items.filter(isMarked);
  exportButton.textContent = `Save redo list (${length})`;
  exportButton.disabled = length === 0;
}

function showMatches() {
  const words = search.value.toLowerCase();
  let shown = 0;
  for (const [index, { element, found }] of cards.entries()) {
    const kinds = ['all', items[index].status, isMarked(items[index]) ? 'redo' : ''];
    const fits = kinds.includes(filter.value);
    element.hidden = !(fits && found.includes(words));
    shown += element.hidden ? 0 : 1;
  }
  count.textContent = `${shown} of ${items.length} · ${summary.line}`;
}

/** A file with an id on each line, as `foley batch --redo-list` takes it. */
function exportRedo() {
  const ids = items.filter(isMarked).map(({ id }) => id);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${ids.join('\n')}\n`], { type: 'text/plain' }));
  link.download = 'redo.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}

function select(index, scrolls = true) {
  cards[current]?.element.classList.remove('current');
  current = index;
  const { element } = cards[index];
  element.classList.add('current');
  if (scrolls) element.scrollIntoView({ block: 'nearest' });
}

function step(by) {
  let index = current + by;
  while (cards[index]?.element.hidden) index += by;
  if (cards[index] !== undefined) select(index);
}

const KEYS = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  ' ': () => current !== -1 && items[current].audio !== null && toggle(current),
  ArrowRight: () => seekBy(2),
  ArrowLeft: () => seekBy(-2),
  r: () => current !== -1 && toggleRedo(current),
  '/': () => search.focus(),
  s: () => exportButton.disabled || exportRedo(),
};

function onKey(event) {
  const isTyping =
    event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === 'Escape' && isTyping) event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && event.target instanceof HTMLButtonElement) return;
  const action = KEYS[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

/** A button that was reached with the keyboard is pressed with Space; after a click that plays again. */
function leaveButton({ detail }) {
  const { activeElement } = document;
  if (detail > 0 && activeElement instanceof HTMLButtonElement) activeElement.blur();
}

function seekBy(seconds) {
  if (playing !== -1) seek(playing, audio.currentTime + seconds);
}

/** Some browsers keep nothing for a page that is a file. */
function remembered() {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]');
  } catch {
    return [];
  }
}

function remember() {
  try {
    localStorage.setItem(storageKey, JSON.stringify([...marks]));
  } catch {
    // The marks last as long as the page is open.
  }
}

function make(name, className, text = '') {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

function draw(name, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
