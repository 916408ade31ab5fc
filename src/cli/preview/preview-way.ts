/** How a terminal can show a picture. */
export type PreviewWay = 'kitty' | 'iterm2' | 'sixel' | 'blocks';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * How the terminal that the environment tells of can show a picture; undefined when it can show none.
 * Within tmux or screen, which do not hand pictures on, it is made of characters.
 * @param mayColor characters need their colors
 */
export function previewWay(env: Environment, mayColor: boolean): PreviewWay | undefined {
  const term = env['TERM'] ?? '';
  const program = env['TERM_PROGRAM'] ?? '';
  if (term === 'dumb') return undefined;
  const isWithin = env['TMUX'] !== undefined || /^(screen|tmux)/.test(term);
  if (!isWithin) {
    if (isKitty(env, term, program)) return 'kitty';
    if (/^(iTerm\.app|WezTerm|mintty)$/.test(program) || env['LC_TERMINAL'] === 'iTerm2') {
      return 'iterm2';
    }
    if (/^(foot|mlterm|yaft|contour)|sixel/.test(term)) return 'sixel';
  }
  return mayColor ? 'blocks' : undefined;
}

function isKitty(env: Environment, term: string, program: string): boolean {
  return env['KITTY_WINDOW_ID'] !== undefined || term === 'xterm-kitty' || program === 'ghostty';
}
