// `npm start -- tts "Hello"`: makes the clone ready, then is foley.
import { createRequire } from 'node:module';
import path from 'node:path';
import { isSetUp, root } from './set-up.mjs';

if (isSetUp()) {
  const foley = path.join(root, 'bin/foley.cjs');
  process.argv[1] = foley;
  createRequire(import.meta.url)(foley);
}
