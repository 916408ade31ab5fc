/**
 * Extensions of files that foley never writes as speech: other audio, video, images, texts and captions. Speech under such
 * a name would not open. Other extensions are allowed, because a name such as `take.2` has none that means a format.
 */
export const FOREIGN_EXTENSIONS: ReadonlySet<string> = new Set(
  `3ga 3gp aa aac aax ac3 ac4 aif aifc aiff alac amr ape au awb caf dff dsf dss dts eac3 gsm m2a m3u m4p m4r mid midi mka
  mlp mp1 mp2 mpa mpc oma opu qcp ra ram rf64 rm shn snd spx tak tta vag voc vox w64 weba wma wv
  avi flv m2ts m4v mkv mov mp4 mpeg mpg mts ogv ts vob webm wmv
  avif bmp gif heic jpeg jpg png svg tif tiff webp
  ass csv doc docx epub fb2 htm html json jsonl lrc md odt pdf rtf sbv smi srt ssa ssml sub tsv ttml txt vtt xml yaml yml
  7z bz2 gz rar tar tgz xz zip`.split(/\s+/),
);
