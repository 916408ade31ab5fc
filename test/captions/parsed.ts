/** Returns the text of a WebVTT cue without tags and escapes. */
export function unescaped(markup: string): string {
  return markup
    .replaceAll(/<[\d:.]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
