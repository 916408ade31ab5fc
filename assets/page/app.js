// The page of `foley serve`. It holds no key: its session is in a cookie that no script can read, and
// what it asks of the API goes through the service. Whatever a service says is shown as text.
import { Conversation } from './live.js';

const one = (selector) => document.querySelector(selector);
let conversation;

start().catch(showTrouble);

async function start() {
  const link = location.hash.slice(1);
  if (link !== '') {
    history.replaceState(null, '', '/');
    await post('/page/session', { link });
  }
  await showEverything();
  one('main').hidden = false;
  one('#live').addEventListener('submit', (event) => {
    event.preventDefault();
    speak().catch(showTrouble);
  });
  one('#stop').addEventListener('click', () => conversation?.stop());
}

async function showEverything() {
  const [profile, voices, models, live, jobs, ledger] = await Promise.all([
    ask('/page/api/api/open/v1/profile'),
    ask('/page/api/api/open/v3/voices?pageSize=100'),
    ask('/page/api/api/open/v3/speech/tts/capabilities'),
    ask('/page/api/v3/tts/capabilities'),
    ask('/page/api/api/open/v3/speech/tts/jobs'),
    ask('/page/ledger'),
  ]);
  one('#balance').textContent = `${profile.credits} credits`;
  choices(
    one('#voice'),
    voices.items.map(({ name, voiceId }) => [voiceId, name]),
  );
  const speaking = live.models.filter(
    ({ available, formats }) => available && formats.includes('pcm'),
  );
  choices(
    one('#model'),
    speaking.map(({ id }) => [id, id]),
  );
  table(one('#voices'), ['name', 'language', 'id'], voices.items, (voice) => [
    voice.name,
    voice.primaryLanguage,
    voice.voiceId,
  ]);
  table(one('#models'), ['id', 'longest text', 'formats'], models.models, (model) => [
    model.id,
    model.maxTextLength,
    model.outputFormats.join(', '),
  ]);
  showJobs(jobs.items);
  showLedger(ledger.items);
}

function showJobs(jobs) {
  table(one('#jobs'), ['created', 'status', 'credits', 'text', ''], jobs, (job) => [
    new Date(job.createdAt).toLocaleString(),
    job.status,
    job.creditsUsed ?? '',
    job.textPreview,
    playButton(job),
  ]);
}

function playButton({ status, taskId }) {
  const button = document.createElement('button');
  button.textContent = 'Play';
  button.disabled = !['success', 'partial_fail'].includes(status);
  button.addEventListener('click', () => play(taskId).catch(showTrouble));
  return button;
}

async function play(taskId) {
  const answer = await get(
    `/page/api/api/open/v3/speech/tts/jobs/${encodeURIComponent(taskId)}/audio`,
  );
  const player = one('#player');
  if (player.src !== '') URL.revokeObjectURL(player.src);
  player.src = URL.createObjectURL(await answer.blob());
  player.hidden = false;
  await player.play();
}

function showLedger(entries) {
  table(one('#ledger'), ['when', 'what', 'available', 'spent'], entries, (entry) => [
    new Date(entry.at).toLocaleString(),
    entry.kind,
    signed(entry.available),
    signed(entry.spent),
  ]);
}

async function speak() {
  one('#trouble').hidden = true;
  const { ticket } = await post('/page/ticket', {});
  one('#words').replaceChildren();
  one('#speak').disabled = true;
  one('#stop').disabled = false;
  try {
    conversation = new Conversation({
      ticket,
      text: one('#text').value,
      voiceId: one('#voice').value,
      modelId: one('#model').value,
      onLevel: (level) => (one('#level').value = level),
      onState: (words) => (one('#state').textContent = words),
      onWords: (words) => (one('#words').textContent = words),
    });
    await conversation.ended;
  } finally {
    one('#speak').disabled = false;
    one('#stop').disabled = true;
    await showEverything();
  }
}

async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(await messageOf(answer));
  return answer;
}

async function ask(path) {
  return (await get(path)).json();
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await messageOf(answer));
  return answer.status === 204 ? undefined : answer.json();
}

async function messageOf(answer) {
  const body = await answer.json().catch(() => ({}));
  const { message = `The service answered ${answer.status}` } = body.error ?? body;
  return typeof message === 'string' ? message : JSON.stringify(message);
}

function showTrouble(error) {
  one('#trouble').textContent = error.message;
  one('#trouble').hidden = false;
}

function table(element, titles, rows, cellsOf) {
  const head = document.createElement('thead');
  head.append(row('th', titles));
  const body = document.createElement('tbody');
  body.append(...rows.map((each) => row('td', cellsOf(each))));
  if (rows.length === 0) body.append(row('td', ['None yet.']));
  element.replaceChildren(head, body);
}

function row(kind, values) {
  const element = document.createElement('tr');
  for (const value of values) {
    const cell = document.createElement(kind);
    cell.append(value);
    element.append(cell);
  }
  return element;
}

function choices(element, pairs) {
  const chosen = element.value;
  element.replaceChildren(...pairs.map(([value, name]) => new Option(name, value)));
  if (pairs.some(([value]) => value === chosen)) element.value = chosen;
}

function signed(amount) {
  return amount > 0 ? `+${amount}` : String(amount);
}
