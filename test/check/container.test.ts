import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { installPythonTools } from '../harness/python-tools.ts';
import { findOnPath, skipWithout } from '../harness/require-tool.ts';
import { createSandbox } from '../harness/sandbox.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HADOLINT = fileURLToPath(new URL('python/hadolint.txt', import.meta.url));
const MINUTE = 60_000;

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** The instructions of the Dockerfile, with continued lines joined. */
const instructions: readonly Instruction[] = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [, name = '', value = ''] = /^(\w+) (.*)$/.exec(line) ?? [];
    return { name, value };
  });

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
/** The words of an instruction in its JSON form, quoted for the shell. */
const words = (json: string): string => (JSON.parse(json) as string[]).map(quote).join(' ');
const valueOf = (name: string): string =>
  instructions.find((instruction) => instruction.name === name)?.value ?? '';

/**
 * A bash script that does in overlays of this machine's files what `docker build` does in an image. `$root` is then
 * the root folder of the last stage, and `inside COMMAND` runs a command there as a container does.
 */
function buildScript(context: string): string {
  const fixtures: string[] = [];
  const lines = instructions.flatMap(({ name, value }) => {
    if (name === 'FROM') {
      const fixture = / AS (\w+)$/.exec(value)?.[1] ?? 'image';
      fixtures.push(fixture);
      return [`begin ${fixture}`, 'workdir=/', 'user=0', 'variables=()'];
    }
    if (name === 'WORKDIR') return [`workdir=${value}`, `mkdir -p "$root${value}"`];
    if (name === 'USER') return [`user=${value}`];
    if (name === 'RUN') return [`build ${quote(value)}`];
    if (name === 'ENV') {
      return value.split(' ').map((entry) => `variables+=("${entry}"); export "${entry}"`);
    }
    if (name !== 'COPY') return [];
    const from = /^--from=(\w+) (\S+) (\S+)$/.exec(value);
    if (from !== null) return [`cp -a "$disk/${from[1]}/root${from[2]}" "$root${from[3]}"`];
    const files = value.split(' ').slice(0, -1).map(quote).join(' ');
    return [`(cd ${quote(context)} && cp -a --parents ${files} "$root$workdir")`];
  });
  return `set -e
disk=/mnt
mount -t tmpfs none "$disk"
begin() {
  root="$disk/$1/root"
  mkdir -p "$disk/$1/upper" "$disk/$1/work" "$root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$disk/$1/upper,workdir=$disk/$1/work" "$root"
  mount --rbind /dev "$root/dev"
}
build() { chroot "$root" sh -ec "cd $workdir; $1"; }
inside() {
  ip netns exec box chroot --userspec="$user" "$root" env -i "\${variables[@]}" bash -c 'cd "$0" && exec "$@"' "$workdir" "$@"
}
${lines.join('\n')}
mount -t tmpfs none /run
ip netns add box
ip -n box link set lo up
service() {
  ip netns exec box unshare --pid --fork bash -c 'mount -t proc proc "$0/proc"; exec chroot --userspec="$1" "$0" env -i "\${@:3}" \\
    bash -c "cd $2 && exec ${valueOf('ENTRYPOINT').slice(2, -2)} \\"\\$@\\"" foley ${words(valueOf('CMD'))}' \\
    "$root" "$user" "$workdir" "\${variables[@]}" &
  parent=$!
}
`;
}

const RUN = `
healthy() { inside ${words(valueOf('HEALTHCHECK').replace(/^.*CMD /, ''))}; }
until_healthy() { for _ in $(seq 100); do healthy && return; sleep 0.2; done; return 1; }
speak() { inside env FOLEY_BASE_URL=http://127.0.0.1:4747 FOLEY_API_KEY=key-of-the-test "$@"; }
healthy && exit 90
mkdir -p "$root/run/secrets"
echo key-of-the-test > "$root/run/secrets/foley-keys"
service
until_healthy
speak foley tts Hello --voice-name Clara -o hello.mp3
job=$(speak foley jobs create Hello --voice-name Clara --wait)
kill -TERM $(pgrep -P $parent)
set +e
wait $parent; echo "stopped: $?"
healthy && exit 91
set -e
service
until_healthy
echo "status: $(speak foley jobs get $job --json | tr -d '\\n ')"
kill -TERM $(pgrep -P $parent)
# Another user, with a volume of its own.
rm -r "$root"/data/.[a-z]*
user=12345:12345
inside foley tts Hello --local -o other-user.wav
stat --format='%n %u %s' "$root"/audio/*
du -sk "$root/opt/foley" | cut -f1
`;

describe('the Dockerfile', () => {
  let bin = '';

  beforeAll(async () => {
    bin = await installPythonTools(HADOLINT);
  }, 5 * MINUTE);

  test('passes hadolint without a warning', async () => {
    const { all, exitCode } = await execa(
      path.join(bin, 'hadolint'),
      ['--no-color', path.join(ROOT, 'Dockerfile')],
      { all: true, reject: false },
    );
    expect(all).toBe('');
    expect(exitCode).toBe(0);
  });

  test(
    'builds from the files that .dockerignore lets in, and serves, reports its health, stops and keeps its data',
    async () => {
      requireChroot();
      const sandbox = await createSandbox();
      const context = path.join(sandbox.out, 'context');
      await copyContext(context);
      const script = path.join(sandbox.out, 'build.sh');
      await writeFile(script, `${buildScript(context)}${RUN}`);
      const { all, exitCode } = await execa(
        'unshare',
        ['--mount', '--propagation', 'private', 'bash', script],
        { all: true, reject: false, env: { CI: undefined } },
      );
      expect(exitCode, all).toBe(0);
      expect(all).toMatch(/^stopped: 143$/m);
      expect(all).toMatch(/^status: .*"status":"success"/m);
      expect(all).toMatch(/audio\/hello\.mp3 1000 \d{4,}$/m);
      expect(all).toMatch(/audio\/other-user\.wav 12345 \d{4,}$/m);
      expect(Number(all.trim().split('\n').at(-1))).toBeLessThan(76_000);
    },
    10 * MINUTE,
  );
});

/** Copies what Docker sends to its engine: the entries that .dockerignore lets in. */
async function copyContext(target: string): Promise<void> {
  const rules = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  expect(rules).toEqual(expect.arrayContaining(['*', '**/node_modules']));
  await mkdir(target);
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', ...allowed], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const input = files.split('\0').filter((name) => name !== '');
  execFileSync('cp', ['--parents', '-t', target, ...input], { cwd: ROOT });
  expect((await readdir(target)).toSorted()).toEqual(allowed.toSorted());
}

/** Whether this user may mount an overlay and enter it. */
function requireChroot(): void {
  const probe =
    'mount -t tmpfs none /run && ip netns add box && d=/mnt && mount -t tmpfs none $d && mkdir $d/u $d/w $d/r && pgrep -V && ' +
    'mount -t overlay overlay -o lowerdir=/,upperdir=$d/u,workdir=$d/w $d/r && chroot --userspec=1000 $d/r true';
  try {
    if (findOnPath('unshare') === undefined) throw new Error('unshare is missing');
    execFileSync('unshare', ['--mount', 'sh', '-c', probe], { stdio: 'ignore' });
  } catch {
    skipWithout('unshare and chroot as root');
  }
}
