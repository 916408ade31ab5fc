export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

interface ColorInputs {
  readonly choice: ColorChoice;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

/**
 * Whether a stream gets colours: the flag, then `NO_COLOR`, then `FORCE_COLOR`, then whether it is
 * a terminal that can show them. Decided for stdout and stderr separately.
 */
export function wantsColor({ choice, env, isTerminal }: ColorInputs): boolean {
  if (choice !== 'auto') return choice === 'always';
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
