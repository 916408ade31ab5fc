// The page of `foley serve`. It holds no key: its session is in a cookie that no script can read, and its
// requests to the API go through the service. Whatever the service sends is shown as text.
import { Player } from './player.js';
import { messageOf, Speech } from './speech.js';

const API = '/page/api/api/open';
const JOBS = `${API}/v3/speech/tts/jobs`;

const one = (selector) => document.querySelector(selector);
const player = new Player(showActivity);
let catalogue;
let speech;

start().catch(showTrouble);

async function start() {
  const link = location.hash.slice(1);
  if (link !== '') {
    history.replaceState(null, '', '/');
    await openSession(link);
  }
  const [voices, { models }] = await Promise.all([
    allVoices(),
    ask(`${API}/v3/speech/tts/capabilities`),
  ]);
  catalogue = {
    voices,
    models: new Map(models.map((model) => [model.id, model])),
  };
  fillVoices();
  showModels(models);
  await showAccount();
  one('main').hidden = false;
  listen();
}

/** Opens a session with a link. A used link is no trouble in the browser that used it, whose session goes on. */
async function openSession(link) {
  try {
    await post('/page/session', { link });
  } catch (error) {
    await ask(`${API}/v1/profile`).catch(() => {
      throw error;
    });
  }
}

/** The voices of all pages of the list. */
async function allVoices() {
  const voices = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const { items, totalPages } = await ask(`${API}/v3/voices?pageSize=100&page=${page}`);
    voices.push(...items);
    last = totalPages;
  }
  return voices;
}

function listen() {
  one('#form').addEventListener('submit', (event) => {
    event.preventDefault();
    speak().catch(showTrouble);
  });
  one('#stop').addEventListener('click', stop);
  one('#voice').addEventListener('change', fillModels);
  one('#model').addEventListener('change', fillFormats);
  one('#text').addEventListener('input', showCount);
  one('#speed').addEventListener('input', showSpeed);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') stop();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) one('#form').requestSubmit();
  });
  showCount();
}

/** Speaks the text of the form; what was spoken or played before ends at once. */
async function speak() {
  stop();
  one('#trouble').hidden = true;
  const order = orderOf();
  if (order === undefined) return;
  const model = catalogue.models.get(order.modelId);
  const current = new Speech(order, model.supportedOperations.alignedStreaming);
  speech = current;
  const title = firstLine(order.text);
  player.showText(order.text, (duration) => current.words(duration));
  if (current.isStreamed) player.play(current.address, { title }).catch(showTrouble);
  showActivity();
  try {
    await current.load();
  } catch (error) {
    if (current.isStopped) return;
    stop();
    throw error;
  } finally {
    if (speech === current) speech = undefined;
    showActivity();
  }
  if (current.isStopped) return;
  player.keep(current.address, `${fileName(title)}.${order.format}`);
  if (!current.isStreamed) await player.play(current.address, { title });
  await showAccount();
}

/** Ends speech and playback, whatever is going on. */
function stop() {
  speech?.stop();
  speech = undefined;
  player.stop();
  showActivity();
}

/** The speech request of the form; `undefined` when its text cannot be spoken, which is shown. */
function orderOf() {
  const text = one('#text').value;
  const modelId = one('#model').value;
  const { maxTextLength } = catalogue.models.get(modelId);
  const length = [...text].length;
  const problem =
    text.trim() === ''
      ? 'There is no text yet. Type what you want to hear.'
      : length > maxTextLength
        ? `The text has ${length} characters; ${modelId} speaks at most ${maxTextLength}.`
        : '';
  showProblem(problem);
  if (problem !== '') {
    one('#text').focus();
    return undefined;
  }
  const voiceId = one('#voice').value;
  return {
    text,
    voiceId,
    modelId,
    format: one('#format').value,
    speed: Number(one('#speed').value),
  };
}

function showProblem(problem) {
  one('#text-problem').textContent = problem;
  one('#text').ariaInvalid = problem === '' ? null : 'true';
}

function fillVoices() {
  const groups = Map.groupBy(catalogue.voices, ({ primaryLanguage }) => primaryLanguage);
  const select = one('#voice');
  select.replaceChildren(
    ...[...groups].map(([language, voices]) => {
      const group = element('optgroup', { label: languageName(language) });
      group.append(...voices.map(({ name, voiceId }) => new Option(name, voiceId)));
      return group;
    }),
  );
  one('#voices').replaceChildren(...catalogue.voices.map((voice) => voiceCard(voice)));
  fillModels();
}

/** The models that are available for the chosen voice. */
function fillModels() {
  const voice = catalogue.voices.find(({ voiceId }) => voiceId === one('#voice').value);
  const models = (voice?.modelIds ?? []).filter((id) => catalogue.models.get(id)?.available);
  fill(one('#model'), models);
  fillFormats();
  for (const card of document.querySelectorAll('#voices button')) {
    card.ariaPressed = String(card.value === voice?.voiceId);
  }
}

function fillFormats() {
  const model = catalogue.models.get(one('#model').value);
  fill(one('#format'), model?.outputFormats ?? []);
  one('#speak').disabled = model === undefined;
  showCount();
}

/** Fills a list; what was chosen stays chosen where it is still there. */
function fill(select, values) {
  const chosen = select.value;
  select.replaceChildren(...values.map((value) => new Option(value, value)));
  if (values.includes(chosen)) select.value = chosen;
}

function showCount() {
  const length = [...one('#text').value].length;
  const longest = catalogue.models.get(one('#model').value)?.maxTextLength ?? 0;
  one('#text-count').textContent = `${number(length)} of ${number(longest)} characters`;
  if (length > 0) showProblem('');
}

function showSpeed() {
  one('#speed-shown').textContent = `${one('#speed').value}×`;
}

function showActivity() {
  one('#stop').disabled = speech === undefined && !player.isPlaying;
  one('#state').textContent =
    speech === undefined ? (player.isPlaying ? 'Playing' : '') : 'Speaking…';
}

/** What changes when something was spoken. */
async function showAccount() {
  const [profile, jobs, ledger] = await Promise.all([
    ask(`${API}/v1/profile`),
    ask(`${JOBS}?limit=100`),
    ask('/page/ledger'),
  ]);
  one('#balance').textContent = `${number(profile.credits)} credits`;
  rows(one('#jobs'), jobs.items, jobRow, 'No jobs yet. Create one with foley jobs create');
  if (jobs.pagination.hasMore) addNote(one('#jobs'), 'Older jobs: foley jobs list');
  const changes = ledger.items.filter(({ available }) => available !== 0);
  rows(one('#ledger'), changes, ledgerRow, 'No credits were used yet.');
  if (ledger.hasMore) addNote(one('#ledger'), 'Older changes are not shown.');
}

const ENDED = { success: 'Done', partial_fail: 'Partly failed', fail: 'Failed' };
const RUNNING = { pending: 'Waiting', processing: 'Being spoken' };

function jobRow({ createdAt, creditsUsed, status, taskId, textPreview }) {
  const address = `${JOBS}/${encodeURIComponent(taskId)}/audio`;
  const play = element('button', { type: 'button', textContent: 'Play' });
  play.ariaLabel = `Play: ${textPreview}`;
  play.disabled = !['success', 'partial_fail'].includes(status);
  play.addEventListener('click', () => {
    stop();
    player.showText('');
    player.keep(address);
    player.play(address, { title: textPreview }).catch(showTrouble);
  });
  const badge = element('span', {
    className: `badge ${status}`,
    textContent: ENDED[status] ?? RUNNING[status] ?? status,
  });
  const facts = [when(createdAt), creditsUsed === undefined ? '' : credits(creditsUsed)];
  return row(textPreview, [badge, facts.filter((fact) => fact !== '').join(' · ')], play);
}

const MOVEMENTS = {
  grant: 'Credits granted',
  reserve: 'Used for a request',
  commit: 'Given back',
  refund: 'Given back',
};

function ledgerRow({ at, available, kind }) {
  const shown = element('span', {
    className: 'amount',
    textContent: SIGNED.format(available),
  });
  return row(MOVEMENTS[kind] ?? kind, [when(at)], shown);
}

function showModels(models) {
  rows(one('#models'), models, (model) => {
    const { available, id, maxTextLength, outputFormats } = model;
    const state = available ? [] : ['not available'];
    const facts = [`${number(maxTextLength)} characters`, outputFormats.join(', '), ...state];
    return row(id, [facts.join(' · ')]);
  });
}

function voiceCard({ isPersonal, name, primaryLanguage, voiceId }) {
  const card = element('li');
  const button = element('button', { type: 'button', value: voiceId });
  const language = languageName(primaryLanguage);
  button.append(
    element('strong', { textContent: name }),
    element('span', {
      className: 'faint',
      textContent: isPersonal ? `${language} · personal` : language,
    }),
  );
  button.addEventListener('click', () => {
    one('#voice').value = voiceId;
    fillModels();
  });
  card.append(button);
  return card;
}

function rows(list, items, rowOf, none = '') {
  list.replaceChildren(...items.map((item) => rowOf(item)));
  if (items.length === 0) addNote(list, none);
}

function addNote(list, text) {
  list.append(element('li', { className: 'faint', textContent: text }));
}

function row(title, details, action) {
  const item = element('li');
  const body = element('div');
  const below = element('p', { className: 'faint' });
  below.append(...details);
  body.append(element('p', { className: 'title', textContent: title }), below);
  item.append(body, ...(action === undefined ? [] : [action]));
  return item;
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

const NUMBER = new Intl.NumberFormat('en');
const SIGNED = new Intl.NumberFormat('en', { signDisplay: 'exceptZero' });
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language' });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function number(value) {
  return NUMBER.format(value);
}

function credits(amount) {
  return `${number(amount)} ${amount === 1 ? 'credit' : 'credits'}`;
}

function languageName(code) {
  try {
    return LANGUAGES.of(code);
  } catch {
    return code;
  }
}

function when(moment) {
  const seconds = (new Date(moment) - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, size]) => -seconds >= size) ?? [];
  return unit === undefined ? 'just now' : AGO.format(Math.round(seconds / length), unit);
}

function firstLine(text) {
  return text.trim().split('\n', 1)[0];
}

function fileName(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 6).join('-').slice(0, 60) || 'speech';
}

async function ask(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(await messageOf(response));
  return response.json();
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await messageOf(response));
}

function showTrouble(error) {
  // A playback that another one replaced was not a failure.
  if (error.name === 'AbortError') return;
  one('#trouble').textContent = error.message;
  one('#trouble').hidden = false;
}
