import { version } from '../../package.json';
import { allVoices } from '../../src/api/resources/voices.ts';
import type { PreparedBatch } from '../shared/batch/connect-batch.ts';
import type { Context } from '../../src/cli/command.ts';
import { findTarget } from '../../src/cli/connect.ts';
import type { CaptionPlan } from '../shared/flags/captions.ts';
import { planCaptions } from '../shared/flags/captions.ts';
import { controlsToSend } from '../shared/flags/speech.ts';
import { hasTags, readTags } from '../shared/flags/tags.ts';
import { readInput, readTextInput } from '../../src/cli/read-input.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import type { Voice } from '../../src/contract/voices.ts';
import { sha256 } from '../../src/durable/checksum.ts';
import { abortable } from '../../src/system/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { CastMember } from '../../src/script/cast.ts';
import { Cast, NARRATOR, readCastFile } from '../../src/script/cast.ts';
import type { Memory, RecordingReport } from '../../src/script/memory.ts';
import { isUpToDate, readMemory, recordingFolder } from '../../src/script/memory.ts';
import type { PlannedText } from '../../src/script/plan-lines.ts';
import { itemsOf, planLines } from '../../src/script/plan-lines.ts';
import type { ScriptFile } from '../../src/script/read/read-script.ts';
import { readScript, scriptFormat } from '../../src/script/read/read-script.ts';
import type { FileFormat } from '../../src/contract/values.ts';
import type { Tags } from '../../src/audio/encode/tags.ts';
import type { ScriptLine } from '../../src/script/script.ts';
import { describePlace } from '../../src/script/script.ts';
import { bookTags } from '../../src/speech/book-tags.ts';
import { PronunciationsByVoice } from '../../src/speech/pronunciations.ts';
import { openLexicon, refuseChapterFlags } from '../../src/speech/speech-text.ts';
import type { CastText } from '../../src/speech/voice-choice.ts';
import { findVoice, foreignCastText } from '../../src/speech/voice-choice.ts';
import { display } from '../../src/text/display.ts';
import { hasChapters } from '../../src/text/formats/text-formats.ts';
import type { ScriptFlags } from './flags.ts';
import { checkOutputs, outputFormat } from './outputs.ts';
import type { OverlayPlan } from './overlay-plan.ts';
import { checkOverlayFlags, isReadAlong, planOverlay } from './overlay-plan.ts';

/** A script that is ready to be spoken: its lines and all flags of the command have been checked. */
export interface PreparedScript {
  readonly flags: ScriptFlags;
  readonly format: FileFormat;
  readonly tags: Tags;
  readonly captions: CaptionPlan | undefined;
  /** The read-along book to make instead of a recording. */
  readonly overlay: OverlayPlan | undefined;
  readonly plan: readonly PlannedText[];
  /** Digest of the options and lines that determine the content of the recording. */
  readonly key: string;
  /** The saved data about the latest recording, and the voice ids found by this and earlier commands. */
  readonly memory: Memory;
  /** Report of the existing recording; undefined if the recording is missing or outdated. */
  readonly unchanged: RecordingReport | undefined;
  /** The speech requests for the lines of the script. */
  readonly batch: PreparedBatch;
}

/**
 * Checks the flags, the script and the cast. Sends no request, except to list the voices if a voice id is unknown.
 * @throws Failure of kind `usage` or `config` naming file, line and column
 */
export async function prepareScript(
  context: Context,
  file: string,
  flags: ScriptFlags,
): Promise<PreparedScript> {
  const { output } = flags;
  const shown = file === '-' ? 'stdin' : file;
  const scriptKind = scriptFormat(shown, flags.scriptFormat);
  checkOverlayFlags(shown, scriptKind, flags);
  const format = outputFormat(flags);
  const settings = await context.settings();
  const captions = await planCaptions(flags, settings, context);
  refuseCastTwice(flags.cast ?? []);
  const members = [...(await membersOf(context, flags)), ...(flags.cast ?? [])];
  const cast = new Cast(members, otherVoice(flags, resolveSetting(settings, 'voice')?.value));
  const bytes = await readInput(context, file, shown);
  const all = await readLines(context, { file: shown, bytes, format: scriptKind }, flags, cast);
  const notice = (sentence: string): void => context.io.notice(`foley: ${sentence}`);
  const isTagged = hasChapters(scriptKind) && !isReadAlong(flags) && hasTags(format);
  const ofBook = isTagged ? await bookTags(shown, { bytes, format: scriptKind }, notice) : {};
  const tags = await readTags(context, flags, ofBook);
  const lines = all.filter(rangeFilter(flags.only, all.length));
  cast.check(lines);
  const speakers = new Set(lines.map((line) => cast.shownName(line)));
  checkOutputs(file, flags, speakers, context.cwd());
  noticeUnusedCast(context, flags, all);
  const overlay = isReadAlong(flags) ? await planOverlay(shown, bytes, lines, flags) : undefined;
  const before = await readMemory(output, context.system.files);
  const { ids, listed, service } = await resolveVoices(context, cast, lines, before);
  const plan = planLines(lines, {
    cast,
    voiceIdOf: (voice) => ids[voice] ?? voice,
    modelId: resolveSetting(settings, 'model', flags.model)?.value,
    controls: controlsToSend(flags, settings),
    lexicon: await openLexicon(flags.lexicon, settings, context),
    gapMs: flags.gap,
    chapterGapMs: flags.chapterGap,
  });
  const language = resolveSetting(settings, 'language', flags.language)?.value;
  if (service === 'embedded' && language === undefined && listed !== undefined) {
    const foreign = foreignCastText(castTexts(plan), listed);
    if (foreign !== undefined) context.io.notice(foreign);
  }
  const redone = idsToRedo(flags.redo ?? [], plan);
  const book = overlay && [sha256(overlay.book.bytes), overlay.overlay];
  const key = keyOf(plan, flags, [format, tags, captions], book);
  const { made } = before;
  // If words have no times, finds them again: the user may have added an engine for their language since.
  const lacksWords = made?.report.event['isTimed'] === false;
  const isUnchanged =
    redone.size === 0 && !lacksWords && (await isUpToDate(made, key, output, context.system.files));
  return {
    flags,
    format,
    tags,
    captions,
    overlay,
    plan,
    key,
    memory: { ...before, voices: { ...before.voices, [service]: ids } },
    unchanged: isUnchanged ? made?.report : undefined,
    batch: openBatch(flags, { plan, redone, settings }),
  };
}

function openBatch(
  flags: ScriptFlags,
  script: {
    readonly plan: readonly PlannedText[];
    readonly redone: ReadonlySet<string>;
    readonly settings: SettingSources;
  },
): PreparedBatch {
  const { plan, redone, settings } = script;
  const outputDir = recordingFolder(flags.output);
  const pronunciations = new PronunciationsByVoice();
  for (const { order } of itemsOf(plan)) pronunciations.add(order);
  const redo = sha256(JSON.stringify([...redone].toSorted())).slice(0, 32);
  return {
    flags,
    shard: undefined,
    concurrency: resolveSetting(settings, 'concurrency', flags.concurrency)?.value ?? 4,
    rerun: {
      outputDir,
      outputFlag: '--output',
      // The folder contains only files that foley made.
      overwrite: true,
      retriesFailed: flags.retryFailed === true,
      isRedone: (id) => redone.has(id),
    },
    redo: redone.size === 0 ? undefined : redo,
    // Without captions, lines are spoken as jobs, whose audio survives a crash of foley. The word times are found in
    // the audio later.
    captions: undefined,
    needsVoice: false,
    pronunciations,
    async *items() {
      yield* itemsOf(plan);
    },
  };
}

function refuseCastTwice(members: readonly CastMember[]): void {
  const names = members.map(({ name }) => name.toUpperCase());
  const repeated = members.find((_, index) => names.indexOf(names[index] ?? '') < index);
  if (repeated === undefined) return;
  const { where: castFlag } = repeated;
  throw usageFailure(`${castFlag} is given more than once`, 'Give each speaker one voice.');
}

async function membersOf(
  context: Context,
  { castFile }: ScriptFlags,
): Promise<readonly CastMember[]> {
  if (castFile === undefined) return [];
  const shown = `--cast-file ${castFile}`;
  return readCastFile(await readTextInput(context, castFile, shown, 'Save it as UTF-8.'), castFile);
}

function otherVoice(
  { voice, voiceName }: ScriptFlags,
  configured: string | undefined,
): CastMember | undefined {
  const given = voice ?? voiceName ?? configured;
  if (given === undefined) return undefined;
  const where =
    voice === undefined ? (voiceName === undefined ? 'FOLEY_VOICE' : '--voice-name') : '--voice';
  return { name: '', where, voice: given, controls: {} };
}

async function readLines(
  context: Context,
  script: ScriptFile,
  { dropSounds, onlyChapters, skipFrontMatter, timing }: ScriptFlags,
  cast: Cast,
): Promise<readonly ScriptLine[]> {
  const choice = { onlyChapters, skipFrontMatter };
  if (!hasChapters(script.format)) refuseChapterFlags(choice, '--script-format');
  const isTimed = script.format === 'srt' || script.format === 'vtt';
  if (dropSounds === true && !isTimed) {
    throw usageFailure(
      '--drop-sounds works with subtitles only',
      'Leave it out, or name the format with --script-format srt or vtt.',
    );
  }
  const { signal } = context;
  const mayOverlap = timing === 'overlap';
  const source = { ...script, ...choice, cast: cast.names, mayOverlap, dropSounds, signal };
  const lines = await readScript(source, (sentence) => context.io.notice(`foley: ${sentence}`));
  if (timing === undefined || lines.some(({ startMs }) => startMs !== undefined)) return lines;
  throw usageFailure(
    '--timing requires a script with start times',
    'Leave --timing out, or use a .srt or .vtt file.',
  );
}

function rangeFilter(only: string | undefined, count: number): (line: ScriptLine) => boolean {
  if (only === undefined) return () => true;
  const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(only) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from >= 1 && from <= to && to <= count) return ({ number }) => number >= from && number <= to;
  throw usageFailure(
    `--only is "${only}"; it takes line numbers from 1 to ${count}, such as 1-${count}`,
    '--dry-run shows the numbers of the lines.',
  );
}

function noticeUnusedCast(
  { io }: Context,
  { cast = [] }: ScriptFlags,
  lines: readonly ScriptLine[],
): void {
  const speakers = new Set(lines.map(({ speaker = NARRATOR }) => speaker.toUpperCase()));
  for (const { name, where } of cast) {
    if (!speakers.has(name.toUpperCase())) io.notice(`foley: ${where}: no line has this speaker`);
  }
}

async function resolveVoices(
  context: Context,
  cast: Cast,
  lines: readonly ScriptLine[],
  { voices }: Memory,
): Promise<{
  readonly service: string;
  readonly ids: Readonly<Record<string, string>>;
  /** All voices of the service, if this command listed them. */
  readonly listed: readonly Voice[] | undefined;
}> {
  const target = await findTarget(context);
  const service = target.kind === 'embedded' ? target.kind : target.address.baseUrl.href;
  const ids = { ...voices[service] };
  const used = lines.flatMap((line) => {
    const { place, voiceId: voice } = line;
    if (voice === undefined) return cast.memberFor(line) ?? [];
    return [{ voice, where: `${describePlace(place)}: voiceId` }];
  });
  let listed: readonly Voice[] | undefined;
  for (const { voice, where } of new Set(used)) {
    // As in `foley tts`, the id is sent unchanged.
    const isId = target.kind === 'hosted' && (where === '--voice' || where === 'FOLEY_VOICE');
    if (isId || ids[voice] !== undefined) continue;
    listed ??= await listVoices(context);
    ids[voice] = findVoice(where, voice, listed);
  }
  return { service, ids, listed };
}

function* castTexts(plan: readonly PlannedText[]): Generator<CastText, void, undefined> {
  for (const { item, line } of plan) {
    const { language, text, voiceId } = item.order;
    if (language === undefined) yield { name: describePlace(line.place), text, voiceId };
  }
}

/** Lists all voices of the service, public and personal. */
export async function listVoices(context: Context): Promise<readonly Voice[]> {
  const { signal } = context;
  const { client } = await abortable(context.connect({ speaks: true }), signal);
  const voices: Voice[] = [];
  for await (const { voice } of allVoices(client, { includePersonal: true, signal })) {
    voices.push(voice);
  }
  return voices;
}

function idsToRedo(redo: readonly string[], plan: readonly PlannedText[]): ReadonlySet<string> {
  const ids = redo.flatMap((given) => {
    const named = plan.filter(({ line }) => line.id === given);
    const texts =
      named.length > 0 ? named : plan.filter(({ line }) => String(line.number) === given);
    if (texts.length > 0) return texts.map(({ item }) => item.id);
    throw usageFailure(
      `--redo is "${display(given)}", but no line has that number or id`,
      '--dry-run shows the numbers of the lines.',
    );
  });
  return new Set(ids);
}

function keyOf(
  plan: readonly PlannedText[],
  { chapters, loudness, stems, timing }: ScriptFlags,
  [format, { cover, ...tags }, captions]: readonly [FileFormat, Tags, CaptionPlan | undefined],
  book: readonly string[] | undefined,
): string {
  // The key does not cover the audio of the lines, which may be missing.
  const lines = plan.map(({ chapter, endMs, item, pauseAfterMs, speaker, startMs }) => {
    return [item.output, speaker, startMs, endMs, pauseAfterMs, chapter];
  });
  const picture = cover === undefined ? undefined : sha256(cover.data);
  const options = [format, loudness, timing, tags, picture, captions, chapters, stems, book];
  return sha256(JSON.stringify([version, options, lines]));
}
