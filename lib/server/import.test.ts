/** A file that came without its texts, and the tokenizer that tells them. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lacksTexts } from '#lib/core/texts.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#lib/tito/byte-tokenizer.ts'
import { importFile } from './import.ts'
import type { Services } from './services.ts'

let folder: string
let store: TrajectoryStore
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-import-'))
  store = openTrajectoryStore(folder, { processId: process.pid, isAlive: () => true, now: () => new Date() })
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
