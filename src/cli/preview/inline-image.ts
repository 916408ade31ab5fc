/** How much of a picture goes into one escape sequence of kitty. */
const KITTY_CHUNK = 4_096;

/** A PNG as kitty shows it, so many columns wide. */
export function kittyImage(png: Uint8Array, columns: number): string {
  const data = Buffer.from(png).toString('base64');
  const chunks = data.match(new RegExp(`.{1,${KITTY_CHUNK}}`, 'g')) ?? [];
  const parts = chunks.map((chunk, index) => {
    const about = index === 0 ? `a=T,f=100,q=2,c=${columns},` : '';
    return `\u001b_G${about}m=${index < chunks.length - 1 ? 1 : 0};${chunk}\u001b\\`;
  });
  return `${parts.join('')}\n`;
}

/** A picture as iTerm2 and its likes show it, so many columns wide. */
export function itermImage(picture: Uint8Array, columns: number): string {
  const about = `inline=1;size=${picture.length};width=${columns};preserveAspectRatio=1`;
  return `\u001b]1337;File=${about}:${Buffer.from(picture).toString('base64')}\u0007\n`;
}
