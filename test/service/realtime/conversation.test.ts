import { describe, expect, test } from 'vitest';
import { VERSIONS } from '../../realtime/messages.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

describe.each(VERSIONS)('a conversation of %s', (version) => {
  test('in simple mode speaks one input', async () => {
    const { connect, balance } = await realtimeService();
    const before = await balance();
    const client = await connect(version);
    await client.expect('authenticated', { quota: before.quota });
    client.send({ event: 'start', request: plainRequest(version) });
    await client.expect('ready', { mode: 'simple', format: 'mp3' });
    client.send({ event: 'input', text: 'One. ', commit: false });
    client.send({ event: 'input', text: 'Two.' });
    const messages = await client.until('finish');
    expect(messages.at(-1)).toMatchObject({ reason: 'completed', units: 9 });
    expect(await client.ended()).toMatchObject({ kind: 'closed', code: 1000 });
    expect(client.audio.length).toBeGreaterThan(500);
    expect(await balance()).toEqual({ credits: before.credits - 9, quota: before.quota - 9 });
  });

  test('in reliable mode speaks segment after segment', async () => {
    const { connect, balance, call } = await realtimeService();
    const before = await balance();
    const client = await connect(version);
    await client.expect('authenticated');
    client.send({
      event: 'start',
      mode: 'reliable',
      requestId: 'r',
      request: plainRequest(version, { format: 'wav' }),
    });
    await client.expect('ready', { requestId: 'r' });
    for (const [index, text] of ['One. Two.', ' Three.'].entries()) {
      client.send({ event: 'text', sequence: index + 1, text });
      client.send({ event: 'flush', segmentId: `s${index + 1}` });
    }
    client.send({ event: 'stop' });
    const messages = await client.until('finish');
    expect(messages.at(-1)).toMatchObject({ reason: 'completed', units: 16 });
    expect(await client.ended()).toMatchObject({ kind: 'closed', code: 1000 });
    expect(client.audio.toString('latin1').split('RIFF')).toHaveLength(2);
    expect(await balance()).toEqual({ credits: before.credits - 16, quota: before.quota - 16 });
    const parts = await Promise.all(
      ['s1', 's2'].map(async (id) =>
        Buffer.from(await (await call(`/v3/tts/requests/r/segments/${id}/audio`)).arrayBuffer()),
      ),
    );
    expect(Buffer.concat(parts).equals(client.audio)).toBe(true);
  });
});
