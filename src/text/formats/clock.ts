/** Parses a time such as `00:01:02,500` or `1:02.5`. Returns milliseconds, or undefined if the text is not a time. */
export function clockMs(text: string): number | undefined {
  const match = CLOCK.exec(text.trim());
  if (match === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number(fraction.padEnd(3, '0'));
}

const CLOCK = /^(?:(\d{1,9}):)?([0-5]?\d):([0-5]?\d)(?:[,.](\d{1,3}))?$/;
