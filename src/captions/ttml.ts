import type { Cue } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { escapeMarkup, speakerName, timestamp } from './cue-writing.ts';

/**
 * Formats a file of the text profile of IMSC 1.1 (W3C), the profile of TTML that players read. White text in a box at the
 * bottom, as wide as its lines. The language is empty, because timings do not state it.
 */
export function ttmlFile(cues: readonly Cue[]): string {
  const speakers = Array.from(new Set(cues.flatMap((cue) => speakerName(cue) ?? [])));
  const paragraphs = cues.map((cue) => {
    const agent = speakers.indexOf(speakerName(cue) ?? '');
    const by = agent === -1 ? '' : ` ttm:agent="speaker${agent + 1}"`;
    const text = cue.lines.map((line) => escapeMarkup(lineText(line))).join('<br/>');
    const [begin, end] = [timestamp(cue.startMs, '.'), timestamp(cue.endMs, '.')];
    return `      <p begin="${begin}" end="${end}"${by}><span style="box">${text}</span></p>\n`;
  });
  return `${HEAD}${agentsOf(speakers)}${LAYOUT}${paragraphs.join('')}    </div>\n  </body>\n</tt>\n`;
}

function agentsOf(speakers: readonly string[]): string {
  if (speakers.length === 0) return '';
  const agents = speakers.map((name, index) => {
    const shown = escapeMarkup(name);
    return `      <ttm:agent type="person" xml:id="speaker${index + 1}"><ttm:name type="alias">${shown}</ttm:name></ttm:agent>\n`;
  });
  return `    <metadata>\n${agents.join('')}    </metadata>\n`;
}

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xmlns:tts="http://www.w3.org/ns/ttml#styling" xmlns:ttm="http://www.w3.org/ns/ttml#metadata" ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/imsc1.1/text" ttp:timeBase="media" xml:lang="">
  <head>
`;

const LAYOUT = `    <styling>
      <style xml:id="cue" tts:color="white" tts:fontFamily="proportionalSansSerif" tts:fontSize="100%" tts:lineHeight="125%" tts:textAlign="center"/>
      <style xml:id="box" tts:backgroundColor="#000000cc"/>
    </styling>
    <layout>
      <region xml:id="bottom" tts:origin="10% 70%" tts:extent="80% 25%" tts:displayAlign="after"/>
    </layout>
  </head>
  <body region="bottom" style="cue">
    <div>
`;
