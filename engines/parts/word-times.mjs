/**
 * Divides the time of words that are spoken as one: each word but the first starts at the sound that is nearest to its
 * share of the letters.
 * @template {{ start: number, end: number }} Range
 * @param {readonly Range[]} ranges of the words in the text
 * @param {readonly number[]} sounds start of each sound, in any unit of time
 * @param {number} end of the last sound
 * @returns {(Range & { from: number, to: number })[]} the words with their times
 */
export function shareTime(ranges, sounds, end) {
  const [first = end] = sounds;
  const letters = ranges.reduce((sum, range) => sum + range.end - range.start, 0);
  let before = 0;
  let from = first;
  return ranges.map((range, index) => {
    before += range.end - range.start;
    const share = first + ((end - first) * before) / letters;
    const isLast = index === ranges.length - 1;
    const to = isLast ? end : Math.max(from, nearest(sounds, share));
    const word = { ...range, from, to };
    from = to;
    return word;
  });
}

/**
 * @param {readonly number[]} times
 * @param {number} wanted
 */
function nearest(times, wanted) {
  return times.reduce((best, time) =>
    Math.abs(time - wanted) < Math.abs(best - wanted) ? time : best,
  );
}
