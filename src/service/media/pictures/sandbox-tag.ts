/** What every picture and video says of itself in its metadata. */
export const SANDBOX_DESCRIPTION =
  'Sandbox rendering by the embedded service of foley: drawn from the words of the prompt, made by no image or video model';
export const SANDBOX_SOFTWARE = 'foley embedded service (sandbox)';

/** The same for whoever looks at the picture. */
export const SANDBOX_LINE = 'foley sandbox rendering';
