/** Said in the metadata of every result: nobody is to take it for what another service would have made. */
export const SANDBOX_COMMENT =
  'Sandbox rendering by the embedded service of foley: the sound was replaced and aligned, the pictures were not changed';
