// Lets servers speak sentences, each server one at a time, and nothing else: `node raw-speakers.mjs COUNT URL…`.
const [count, ...urls] = process.argv.slice(2);
let left = Number(count);
const speak = async (url) => {
  while (left > 0) {
    left -= 1;
    const body = JSON.stringify({ model: 'm', voice: 'tone', input: 'x', response_format: 'wav' });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
  }
};
await Promise.all(urls.map(speak));
