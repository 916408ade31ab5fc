// Has a media child do one task, as the service has it done; prints the most memory that it had, in MB.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [program, file] = process.argv.slice(2);
const child = fork(program, [], {
  execArgv: ['--max-old-space-size=256'],
  env: {},
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
});
child.on('message', (news) => {
  if (news.type === 'progress') return;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  child.kill('SIGKILL');
  if (news.type === 'failed') throw new Error(news.message);
  console.log(Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024));
});
child.send(JSON.parse(readFileSync(file, 'utf8')));
