import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { EndingProcess } from '../../src/cli/signals.ts';
import { endWithSignal, Interrupted, watchSignals } from '../../src/cli/signals.ts';

/** Ends an imitated process, and returns what was called. */
function endOn(platform: NodeJS.Platform, signal: 'SIGINT' | 'SIGTERM') {
  const calls: unknown[] = [];
  const host: EndingProcess = {
    platform,
    pid: 1000,
    exit: () => calls.push('exit'),
    kill: (...given) => calls.push(['kill', ...given]),
    removeAllListeners: (...given) => calls.push(['removeAllListeners', ...given]),
  };
  endWithSignal(host, signal);
  return { calls, exitCode: host.exitCode };
}

describe('a stop signal', () => {
  it.each([
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGTERM'],
    ['SIGHUP', 'SIGHUP'],
    ['SIGBREAK', 'SIGINT'],
  ] as const)('%s stops the run as %s, and the second one ends it at once', (sent, stopSignal) => {
    const source = new EventEmitter();
    const onSecond = vi.fn();
    const { signal, stop } = watchSignals(source, onSecond);
    source.emit(sent);
    expect(signal.reason).toBeInstanceOf(Interrupted);
    expect(signal.reason).toMatchObject({ stopSignal });
    expect(onSecond).not.toHaveBeenCalled();
    source.emit(sent);
    expect(onSecond).toHaveBeenCalledWith(stopSignal);
    stop();
    expect(source.eventNames()).toEqual([]);
  });

  it('is raised again on POSIX systems', () => {
    expect(endOn('darwin', 'SIGTERM')).toEqual({
      calls: [
        ['removeAllListeners', 'SIGTERM'],
        ['kill', 1000, 'SIGTERM'],
      ],
      exitCode: 143,
    });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s becomes exit code %i on Windows', (signal, exitCode) => {
    expect(endOn('win32', signal)).toEqual({ calls: ['exit'], exitCode });
  });
});
