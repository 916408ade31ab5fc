const OPENING = /^[\p{Ps}\p{Pi}"'¿¡*#>♪♫]+$/u;

/** Whether a text is nothing but signs that open something, and so belong to what follows. */
export function isOpening(text: string): boolean {
  return OPENING.test(text);
}
