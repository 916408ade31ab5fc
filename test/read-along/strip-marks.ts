/** Removes the spans and ids that foley added to a document: those with an id such as `foley-12`. */
export function stripMarks(marked: string): string {
  const open: boolean[] = [];
  const withoutSpans = marked.replaceAll(SPANS, (tag, close: string | undefined, rest: string) => {
    if (close === '/') return open.pop() === true ? '' : tag;
    if (rest.endsWith('/')) return tag;
    const isOurs = OUR_ID.test(rest);
    open.push(isOurs);
    return isOurs ? '' : tag;
  });
  return withoutSpans.replaceAll(/ id="foleyx*-\d+"/g, '');
}

const SPANS = /<(\/)?(?:\w+:)?span\b([^>]*)>/g;
const OUR_ID = /^ id="foleyx*-\d+"$/;
