import type { Verdict } from './verdict.ts';

/** What a file of sound is, in a few words: `mp3, 3.2 s, 44.1 kHz, mono`. */
export function describeSound(verdict: Verdict): string {
  const { format, codec, durationMs, sampleRate, channels } = verdict;
  const parts: (string | undefined)[] = [
    codec === undefined || codec === format ? format : `${format} (${codec})`,
    durationMs === undefined ? undefined : describeDuration(durationMs),
    sampleRate === undefined ? undefined : `${sampleRate / 1000} kHz`,
    channels === undefined ? undefined : describeChannels(channels),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** A playing time for people: `0.4 s`, `12.3 s`, `1:02.5`, `1:00:02`. */
export function describeDuration(durationMs: number): string {
  const tenths = Math.round(durationMs / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${padded(seconds % 60)}.${tenths % 10}`;
  return `${Math.floor(minutes / 60)}:${padded(minutes % 60)}:${padded(seconds % 60)}`;
}

function describeChannels(channels: number): string {
  if (channels === 1) return 'mono';
  return channels === 2 ? 'stereo' : `${channels} channels`;
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}
