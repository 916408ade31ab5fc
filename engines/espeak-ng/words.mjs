// When each word is said, from what espeak-ng tells while it speaks.
//
// It tells where a word begins, but says some words as one ("of the"), and of others it tells every
// part ("$1,234"). So the first time told for a word is taken, a word that is not told of begins at
// one of the sounds between its neighbours, and a word ends where the pause after it begins.

/** @typedef {import('./tokens.mjs').Token} Token */
/** @typedef {{ ms: number, isSilent: boolean }} Sound where a sound begins */

/**
 * @param {readonly Token[]} tokens the words of the text, in order
 * @param {readonly { ms: number, at: number }[]} told begin of words: time, and code point of the text
 * @param {readonly Sound[]} sounds in order
 * @param {number} endMs of the whole
 * @returns {{ startMs: number, endMs: number }[]} one for each token; starts never decrease
 */
export function timeWords(tokens, told, sounds, endMs) {
  const starts = toldStarts(tokens, told);
  starts[0] ??= sounds.find(({ isSilent }) => !isSilent)?.ms ?? 0;
  for (let first = 1; first < starts.length; first += 1) {
    if (starts[first] !== undefined) continue;
    let next = first + 1;
    while (next < starts.length && starts[next] === undefined) next += 1;
    const stretch = { startMs: starts[first - 1], endMs: starts[next] ?? endMs };
    share(tokens.slice(first - 1, next), stretch, sounds).forEach((ms, index) => {
      starts[first + index] = ms;
    });
  }
  return starts.map((startMs, index) => ({
    startMs,
    endMs: Math.max(startMs, endOfSound(sounds, startMs, starts[index + 1] ?? endMs)),
  }));
}

/** The index of the token that a code point belongs to, or comes after. */
export function tokenAt(tokens, at) {
  let low = 0;
  let high = tokens.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tokens[middle].start <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Times that were told, each later than the one before it; `undefined` where none was. */
function toldStarts(tokens, told) {
  const starts = Array.from({ length: tokens.length });
  let latest = { index: -1, ms: -1 };
  for (const { ms, at } of told) {
    const index = tokenAt(tokens, at);
    if (index <= latest.index || ms <= latest.ms) continue;
    starts[index] = ms;
    latest = { index, ms };
  }
  return starts;
}

/**
 * Shares a stretch among its words by their lengths: where each but the first begins, at a sound
 * where there are enough of them.
 */
function share(tokens, { startMs, endMs }, sounds) {
  const spokenMs = endOfSound(sounds, startMs, endMs) - startMs;
  const between = sounds
    .filter(({ ms, isSilent }) => !isSilent && ms > startMs && ms < endMs)
    .map(({ ms }) => ms);
  const whole = tokens.reduce((sum, { start, end }) => sum + end - start, 0);
  let before = 0;
  return tokens.slice(1).map((_, index) => {
    before += tokens[index].end - tokens[index].start;
    const fair = startMs + (spokenMs * before) / whole;
    const wordsAfter = tokens.length - 2 - index;
    const choice = between.slice(0, Math.max(0, between.length - wordsAfter));
    const chosen = nearest(choice, fair) ?? fair;
    between.splice(0, between.indexOf(chosen) + 1);
    return chosen;
  });
}

function nearest(times, fair) {
  return times.reduce(
    (best, ms) => (best === undefined || Math.abs(ms - fair) < Math.abs(best - fair) ? ms : best),
    undefined,
  );
}

/** Where the silence before `endMs` begins, but not before `startMs`. */
function endOfSound(sounds, startMs, endMs) {
  let end = endMs;
  for (let index = sounds.length - 1; index >= 0; index -= 1) {
    const { ms, isSilent } = sounds[index];
    if (ms >= endMs) continue;
    if (!isSilent || ms <= startMs) break;
    end = ms;
  }
  return end;
}
