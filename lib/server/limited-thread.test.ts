import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { StoreError } from '#lib/store/store-error.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { createRequestThread } from './limited-thread.ts'

const folder = folderOfFile()

test('A failure of the store in a thread reaches the caller as a StoreError, with the cause for the log', async () => {
  const workerFile = path.join(folder, 'worker.mjs')
  const imported = (name: string) => JSON.stringify(path.resolve(import.meta.dirname, name))
  writeFileSync(
    workerFile,
    `import { answerRequests } from ${imported('limited-thread.ts')}
    import { StoreError } from ${imported('../store/store-error.ts')}
    answerRequests(() => async (question) => {
      if (question === 'store') throw new StoreError('DISK_FULL', 'what', 'advice', { cause: new Error('first') })
      throw new TypeError('ours')
    })`,
  )
  const thread = createRequestThread<string, never>({ name: 'test', workerFile, start: {}, idleMs: 60_000 })
  const failed = await thread.ask('store').catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(StoreError)
  expect(failed).toMatchObject({ code: 'DISK_FULL', message: 'what', hint: 'advice' })
  expect((failed as StoreError).stack).toMatch(/Caused by Error: first/)
  const ours = await thread.ask('ours').catch((error: unknown) => error)
  expect(ours).not.toBeInstanceOf(StoreError)
  expect((ours as Error).stack).toContain('TypeError: ours')
  await thread.end()
})
