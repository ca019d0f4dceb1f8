/** A file that came without its texts, and the tokenizer that tells them. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#lib/core/sample-trajectory.ts'
import { lacksTexts } from '#lib/core/texts.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#lib/tito/byte-tokenizer.ts'
import { chooseTokenizer, importFile } from './import.ts'
import type { Services } from './services.ts'

let folder: string
let store: TrajectoryStore
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-import-'))
  store = openTrajectoryStore(folder, { now: () => new Date() })
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a tokenizer whose chat template does not compile still tells the texts', async () => {
  const load = async () => ({
    tokenizer: byteTokenizer,
    template: () => chatTemplate('{% for %}', {}),
    compile: (text: string) => chatTemplate(text, {}),
    stopIds: [],
  })
  const sample = { prompt: '', tokens: byteTokenizer.encode('yes'), response_length: 3, loss_mask: [1, 1, 1] }
  const request = new Request('http://127.0.0.1/api/import?tokenizer=bytes', {
    method: 'POST',
    body: JSON.stringify(sample),
  })
  const { trajectories } = await importFile(request, { store, tokenizers: { load } } as unknown as Services)
  const found = store.get(trajectories[0] ?? '')
  expect(found && lacksTexts(found)).toBe(false)
})

test('a parser that is not known is told, without a tokenizer too', async () => {
  const request = new Request('http://127.0.0.1/api/import?parser=nope', { method: 'POST', body: '{}' })
  const refused = importFile(request, { store } as unknown as Services)
  await expect(refused).rejects.toMatchObject({
    details: { status: 422, code: 'NO_PARSER', hint: expect.stringContaining('hermes') },
  })
})

/** A tokenizer of bytes under every name. */
const load = async () => ({ tokenizer: byteTokenizer, template: () => undefined })
const services = () => ({ store, tokenizers: { load } }) as unknown as Services
const importText = (query: string, body: string) =>
  importFile(new Request(`http://127.0.0.1/api/import?${query}`, { method: 'POST', body }), services())

test('Every sample of a file is stored with the tokenizer that the request names, and with its group', async () => {
  const sample = (index: number) => ({
    tokens: [1, 2, 3],
    response_length: 2,
    loss_mask: [1, 1],
    rollout_log_probs: [-1, -2],
    status: 'completed',
    index,
    group_index: 0,
  })
  const { format, trajectories } = await importText(
    'tokenizer=bytes&name=two.jsonl',
    JSON.stringify([sample(0), sample(1)]),
  )
  expect([format, trajectories.length]).toEqual(['slime', 2])
  expect(store.get(trajectories[1] ?? '')).toMatchObject({
    group: { id: '0', index: 1 },
    model: { tokenizer: { name: byteTokenizer.name }, parser: 'hermes' },
    provenance: { format: 'slime', file: 'two.jsonl' },
  })
})

describe('A file that cannot be read is refused, and none of its records is stored', () => {
  const good = '{"token_ids": [1], "logprobs": [NaN]}'
  test.each([
    ['one wrong line', '', `${good}\n{"token_ids": ["x"]}`, 'line 2: token_ids[0]: expected a number, found "x"'],
    ['another format than the named one', 'format=slime', good, 'expected a trajectory of slime'],
    ['no format of that name', 'format=word', good, 'there is no format "word"'],
    ['another tokenizer', 'tokenizer=bytes', '{"token_ids": [5, 9999999]}', 'token 1 has the id 9999999'],
  ])('%s', async (_, query, text, detail) => {
    await expect(importText(query, text)).rejects.toMatchObject({
      details: { status: 422, detail: expect.stringContaining(detail), hint: expect.stringMatching(/./) },
    })
    expect(store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 1 }).rows).toEqual([])
  })
})

test('A trajectory that was sampled with its tokenizer is given no other one', async () => {
  const key = store.add(sampleTrajectory)
  const refused = chooseTokenizer(key, { tokenizer: 'bytes' }, services(), new AbortController().signal)
  await expect(refused).rejects.toMatchObject({ details: { status: 409, code: 'HAS_TOKENIZER' } })
})
