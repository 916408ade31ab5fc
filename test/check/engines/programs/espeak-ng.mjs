// The program `espeak-ng` of Debian with the options of examples/engine/espeak.py, from the npm package.
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import load from '@echogarden/espeak-ng-emscripten';

const { values } = parseArgs({
  options: {
    stdin: { type: 'boolean' },
    stdout: { type: 'boolean' },
    v: { type: 'string', short: 'v' },
    s: { type: 'string', short: 's' },
    p: { type: 'string', short: 'p' },
    a: { type: 'string', short: 'a' },
  },
});
if (values.stdin !== true || values.stdout !== true) throw new Error('only --stdin and --stdout');
const module = await load();
const worker = new module.eSpeakNGWorker();
if (worker.set_voice(values.v) !== 0) throw new Error(`no voice ${values.v}`);
worker.set_rate(Number(values.s));
worker.set_pitch(Number(values.p));
worker.set_volume(Number(values.a));
const chunks = [Buffer.alloc(44)];
worker.synthesize(await text(process.stdin), (samples) => {
  chunks.push(Buffer.from(Int16Array.from(samples).buffer));
  return false;
});
process.stdout.write(Buffer.concat(chunks));
