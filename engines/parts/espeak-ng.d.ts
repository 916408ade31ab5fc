/** Declares the functions that the engines use, since the package has no types. */
declare module '@echogarden/espeak-ng-emscripten' {
  /** `text_position` counts code points from 1; `audio_position` is in milliseconds. */
  export type EspeakEvent = { readonly text_position: number; readonly audio_position: number } & (
    | { readonly type: 'mark' | 'phoneme' | 'play'; readonly id: string }
    | { readonly type: 'sentence' | 'word'; readonly id: number }
    | { readonly type: 'end' | 'msg_terminated' | 'samplerate'; readonly id: undefined }
  );

  interface EspeakWorker {
    /** @returns 0, or the number of an error */
    set_voice(name: string): number;
    set_rate(wordsPerMinute: number): void;
    set_pitch(pitch: number): void;
    set_range(range: number): void;
    set_volume(volume: number): void;
    /** @param callback gets 16-bit samples and the events in them; returns true to end the speech */
    synthesize(
      text: string,
      callback: (samples: Int16Array, events: readonly EspeakEvent[]) => boolean,
    ): void;
  }

  export interface EspeakModule {
    readonly HEAPU8: Uint8Array;
    readonly FS: {
      readFile(path: string, options: { readonly encoding: 'utf8' }): string;
      writeFile(path: string, data: string): void;
    };
    readonly eSpeakNGWorker: new () => EspeakWorker;
  }

  export default function load(): Promise<EspeakModule>;
}
