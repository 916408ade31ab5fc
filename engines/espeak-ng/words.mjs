// Computes the time of each word from the events of espeak-ng.
//
// espeak-ng reports the start of words, but reports some words as one ("of the"), and every part of
// others ("$1,234"). So a word starts at its first event; a word without an event starts at a sound
// between its neighbours; a word ends where the pause after it starts.

/** @typedef {import('./tokens.mjs').Token} Token */
/** @typedef {{ ms: number, isSilent: boolean }} Sound start of a sound */

/**
 * Returns the time of each word.
 * @param {readonly Token[]} tokens the words of the text, in order
 * @param {readonly { ms: number, at: number }[]} events start of words: time, and code point of the text
 * @param {readonly Sound[]} sounds in order
 * @param {number} endMs of the speech
 * @returns {import('../parts/protocol.mjs').Word[]} one for each token; starts never decrease
 */
export function timeWords(tokens, events, sounds, endMs) {
  const starts = reportedStarts(tokens, events);
  let latest = starts[0] ?? sounds.find(({ isSilent }) => !isSilent)?.ms ?? 0;
  const times = [latest];
  for (let first = 1; first < tokens.length; first = times.length) {
    let next = first;
    while (next < tokens.length && starts[next] === undefined) next += 1;
    const stretch = { startMs: latest, endMs: starts[next] ?? endMs };
    times.push(...share(tokens.slice(first - 1, next), stretch, sounds));
    latest = starts[next] ?? latest;
    if (next < tokens.length) times.push(latest);
  }
  return tokens.map(({ start, end }, index) => {
    const startMs = times[index] ?? endMs;
    const soundEnd = endOfSound(sounds, startMs, times[index + 1] ?? endMs);
    return { start, end, startMs, endMs: Math.max(startMs, soundEnd) };
  });
}

/**
 * Returns the index of the last token that starts at or before a code point.
 * @param {readonly Token[]} tokens
 * @param {number} at
 */
export function tokenAt(tokens, at) {
  let low = 0;
  let high = tokens.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tokens[middle]?.start ?? Infinity) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns the reported start of each word, in increasing order; undefined for a word without an event.
 * @param {readonly Token[]} tokens
 * @param {readonly { ms: number, at: number }[]} events
 */
function reportedStarts(tokens, events) {
  /** @type {(number | undefined)[]} */
  const starts = Array.from({ length: tokens.length });
  let latest = { index: -1, ms: -1 };
  for (const { ms, at } of events) {
    const index = tokenAt(tokens, at);
    if (index <= latest.index || ms <= latest.ms) continue;
    starts[index] = ms;
    latest = { index, ms };
  }
  return starts;
}

/**
 * Divides a stretch of time among words by their lengths. Returns the start of each word but the
 * first, at a sound if there are enough sounds.
 * @param {readonly Token[]} tokens
 * @param {{ startMs: number, endMs: number }} stretch
 * @param {readonly Sound[]} sounds
 */
function share(tokens, { startMs, endMs }, sounds) {
  const spokenMs = endOfSound(sounds, startMs, endMs) - startMs;
  const between = sounds
    .filter(({ ms, isSilent }) => !isSilent && ms > startMs && ms < endMs)
    .map(({ ms }) => ms);
  const whole = tokens.reduce((sum, { start, end }) => sum + end - start, 0);
  let before = 0;
  return tokens.slice(0, -1).map(({ start, end }, index) => {
    before += end - start;
    const fair = startMs + (spokenMs * before) / whole;
    const wordsAfter = tokens.length - 2 - index;
    const choice = between.slice(0, Math.max(0, between.length - wordsAfter));
    const chosen = nearest(choice, fair) ?? fair;
    between.splice(0, between.indexOf(chosen) + 1);
    return chosen;
  });
}

/**
 * @param {readonly number[]} times
 * @param {number} fair
 */
function nearest(times, fair) {
  return times.reduce(
    (/** @type {number | undefined} */ best, ms) =>
      best === undefined || Math.abs(ms - fair) < Math.abs(best - fair) ? ms : best,
    undefined,
  );
}

/**
 * Returns the start of the silence before `endMs`, at least `startMs`.
 * @param {readonly Sound[]} sounds
 * @param {number} startMs
 * @param {number} endMs
 */
function endOfSound(sounds, startMs, endMs) {
  let end = endMs;
  for (let index = sounds.length - 1; index >= 0; index -= 1) {
    const sound = sounds[index];
    if (sound === undefined || sound.ms >= endMs) continue;
    if (!sound.isSilent || sound.ms <= startMs) break;
    end = sound.ms;
  }
  return end;
}
