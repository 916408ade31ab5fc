import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { openPage } from '../../harness/browser.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { SUBTITLE_FILES, subtitleBytes } from '../../text/formats/subtitle-files.ts';
import type { SubtitleFile, SubtitleTool } from '../../text/formats/subtitle-files.ts';

const PYTHON_FILES = fileURLToPath(new URL('../python', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../fixtures/subtitles', import.meta.url));

describe('subtitle files are read as other tools read them, or the fixture says why not:', () => {
  test('pysubs2, srt, webvtt-py and ffmpeg', { timeout: 600_000 }, async () => {
    const bin = await installPythonTools(path.join(PYTHON_FILES, 'subtitles.txt'));
    const script = path.join(PYTHON_FILES, 'read_subtitles.py');
    const { stdout } = await execa(path.join(bin, 'python'), [script, FOLDER]);
    const read: Record<string, Record<string, readonly string[]>> = JSON.parse(stdout);
    for (const file of SUBTITLE_FILES) {
      const tools = ['ffmpeg', 'pysubs2', 'srt', 'webvtt-py'] as const;
      for (const tool of tools.filter((one) => one !== 'srt' || file.name.endsWith('.srt'))) {
        expect(judged(file, tool, read[file.name]?.[tool])).toEqual(expected(file, tool));
      }
    }
  });

  test('the WebVTT parser of Chromium', { timeout: 120_000 }, async () => {
    const page = await openPage();
    for (const file of SUBTITLE_FILES.filter(({ name }) => name.endsWith('.vtt'))) {
      const address = `data:text/vtt;base64,${subtitleBytes(file).toString('base64')}`;
      const cues: unknown = await page.evaluate(`(${READ_IN_PAGE})(${JSON.stringify(address)})`);
      expect(judged(file, 'chromium', cues)).toEqual(expected(file, 'chromium'));
    }
  });
});

test('foley text prints the words of each file', { timeout: 300_000 }, async () => {
  for (const { cues, name, spoken = cues.join(' ') } of SUBTITLE_FILES) {
    const { stdout } = await runFoley(['text', '-f', path.join(FOLDER, name)]);
    expect([name, stdout.toString()]).toEqual([name, `${spoken}\n`]);
  }
});

// Runs in the page. The pronunciations of ruby text are above the words, not beside them.
const READ_IN_PAGE = `async (address) => {
  const track = document.createElement('track');
  const video = document.createElement('video');
  video.append(track);
  document.body.append(video);
  track.track.mode = 'hidden';
  await new Promise((resolve, reject) => {
    track.onload = resolve;
    track.onerror = () => reject(new Error('the track was not loaded'));
    track.src = address;
  });
  return [...track.track.cues].map((cue) => {
    const text = cue.getCueAsHTML();
    for (const pronunciation of text.querySelectorAll('rt')) pronunciation.remove();
    return text.textContent;
  });
}`;

/** A tool's cues, and whether they are those of the fixture. */
function judged(file: SubtitleFile, tool: string, cues: unknown) {
  const texts = Array.isArray(cues)
    ? cues.map((cue) => `${cue}`.replaceAll(/\s+/g, ' ').trim())
    : [];
  const read = texts.filter((text) => text !== '');
  const isSame = JSON.stringify(read) === JSON.stringify(file.cues);
  return { file: file.name, tool, isSame, read: isSame ? [] : read };
}

function expected(file: SubtitleFile, tool: SubtitleTool) {
  const isSame = file.differs?.[tool] === undefined;
  return { file: file.name, tool, isSame, read: isSame ? [] : expect.anything() };
}
