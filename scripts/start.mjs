// `npm start -- tts "Hello"`: makes the clone ready, then is foley.
import { createRequire } from 'node:module';
import path from 'node:path';
import { root, setUp } from './set-up.mjs';

setUp();
process.argv[1] = path.join(root, 'bin/foley.cjs');
createRequire(import.meta.url)(process.argv[1]);
