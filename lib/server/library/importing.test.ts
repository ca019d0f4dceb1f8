/** Tests the importing thread as it runs in the application. */
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { createImporting, type ImportingThread, importAnswer } from './importing.ts'

let folder: string
let store: TrajectoryStore
let importing: ImportingThread
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-importing-'))
  store = openTrajectoryStore(folder, { now: () => new Date() })
  importing = createImporting({
    workerFile: path.resolve('lib/server/library/import-worker.ts'),
    start: {
      dataFolder: folder,
      tokenizers: {
        builtIn: {},
        folders: [],
        hub: { url: undefined, token: undefined, cacheFolder: folder, cachedOnly: true },
      },
    },
  })
})
afterAll(async () => {
  await importing.close()
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

function question(text: string) {
  const file = path.join(folder, 'file.json')
  writeFileSync(file, text)
  return {
    descriptor: openSync(file, 'r'),
    size: statSync(file).size,
    name: 'file.json',
    format: undefined,
    tokenizer: undefined,
    parser: 'hermes',
  }
}
const ongoing = () => new AbortController().signal

test('The importing thread stores trajectories that another connection reads, and refuses a wrong file with a problem', async () => {
  const { trajectories } = await importAnswer(question('[{"token_ids":[1]},{"token_ids":[2]}]'), importing, ongoing())
  expect(trajectories.map((key) => store.get(key)?.segments[0]?.ids)).toEqual([[1], [2]])
  await expect(importAnswer(question('['), importing, ongoing())).rejects.toMatchObject({
    details: { status: 422, code: 'BAD_FILE', detail: expect.stringContaining('a list that has no end') },
  })
})

test('The importing thread ends an import whose client leaves, and answers the next one', async () => {
  const leaving = new AbortController()
  const left = importAnswer(question('{"token_ids":[1]}'), importing, leaving.signal)
  leaving.abort(new Error('the client left'))
  await expect(left).rejects.toThrow('the client left')
  expect(await importAnswer(question('{"token_ids":[3]}'), importing, ongoing())).toMatchObject({ existing: 0 })
})
