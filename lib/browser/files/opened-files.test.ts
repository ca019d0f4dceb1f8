import { expect, test, vi } from 'vitest'
import type { ImportResult } from '#lib/api/imported.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { ApiError } from '../api.ts'
import { MOST_BYTES_AT_ONCE, type OpeningState, openFiles } from './opened-files.ts'

const IMPORTED: ImportResult = {
  format: 'rollscope',
  trajectories: ['k'],
  existing: 0,
  first: { id: 'k', createdAt: '' },
  failed: { count: 0, first: [] },
  lacked: [],
}
const fileOf = (name: string, content = '{}') => new File([content], name)
/** Returns a file that only claims its size. */
function sizedFile(name: string, size: number): File {
  const file = fileOf(name)
  Object.defineProperty(file, 'size', { value: size })
  return file
}
const resultsOf = ({ files }: OpeningState) =>
  files.map(({ path, result }) => `${path} ${result.kind}${result.kind === 'failed' ? `: ${result.message}` : ''}`)

test('Several files are stored one after the other in the order of their names, and a wrong one costs only itself', async () => {
  const order: string[] = []
  const importFile = vi.fn(async ({ name }: File) => {
    order.push(`${name} begins`)
    await Promise.resolve()
    order.push(`${name} ends`)
    if (name === 'b.json') throw new ApiError(422, 'BAD_FILE', 'expected JSON, found nothing', 'Write it again.')
    return IMPORTED
  })
  const opening = openFiles(
    { files: [fileOf('c.json'), fileOf('b.json'), fileOf('a.json')], entries: [] },
    { importFile, mayBeListed: async () => false },
  )
  expect(opening.state()).toEqual({ status: 'finding', files: [], skipped: [] })
  await opening.ended
  expect(opening.state().status).toBe('finished')
  expect(resultsOf(opening.state())).toEqual([
    'a.json stored',
    'b.json failed: expected JSON, found nothing',
    'c.json stored',
  ])
  expect(opening.state().files[1]?.result).toMatchObject({ hint: 'Write it again.' })
  expect(order).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name}.json begins`, `${name}.json ends`]))
})

test('A file is stored with its path as its name', async () => {
  const importFile = vi.fn(async (..._: [File, object?]) => IMPORTED)
  const file = fileOf('a.json')
  Object.defineProperty(file, 'webkitRelativePath', { value: 'dump/step/a.json' })
  await openFiles({ files: [file], entries: [] }, { importFile, mayBeListed: async () => false }).ended
  expect(importFile.mock.calls).toMatchObject([[file, { name: 'dump/step/a.json' }]])
})

test('The events of one conversation in a folder are stored as one file', async () => {
  const importFile = vi.fn(async (..._: [File, object?]) => IMPORTED)
  const files = [0, 1].map((id) => {
    const file = fileOf(`${id}.json`, JSON.stringify({ id, source: 'user', action: 'message' }))
    return Object.defineProperty(file, 'webkitRelativePath', { value: `run/events/${id}.json` })
  })
  const opening = openFiles({ files, entries: [] }, { importFile, mayBeListed: async () => false })
  await opening.ended
  expect(resultsOf(opening.state())).toEqual(['run/events stored'])
  expect(importFile.mock.calls).toMatchObject([[{ name: 'events' }, { name: 'run/events' }]])
})

test('A large file of several records is not stored; a file of another type or beyond the limit is refused unread', async () => {
  const importFile = vi.fn(async (_: File) => IMPORTED)
  const files = [
    sizedFile('lines.jsonl', MOST_BYTES_AT_ONCE + 1),
    sizedFile('one.json', MOST_BYTES_AT_ONCE + 1),
    sizedFile('one-huge.json', LIMITS.fileBytes + 1),
    sizedFile('small.jsonl', MOST_BYTES_AT_ONCE),
    fileOf('weights.bz2', 'BZh91AY&SY'),
  ]
  const opening = openFiles(
    { files, entries: [] },
    { importFile, mayBeListed: async ({ name }) => name !== 'one.json' && name !== 'one-huge.json' },
  )
  await opening.ended
  expect(resultsOf(opening.state())).toEqual([
    'lines.jsonl large',
    'one-huge.json failed: the file is larger than 2 GiB',
    'one.json stored',
    'small.jsonl stored',
    'weights.bz2 failed: expected JSON, found a bzip2 file',
  ])
  expect(importFile.mock.calls.map(([{ name }]) => name)).toEqual(['one.json', 'small.jsonl'])
})

test('A file that is gone is reported with its reason', async () => {
  const gone = fileOf('gone.json')
  vi.spyOn(gone, 'slice').mockImplementation(() => {
    throw new DOMException('it was moved', 'NotFoundError')
  })
  const opening = openFiles({ files: [gone], entries: [] }, { importFile: vi.fn(), mayBeListed: vi.fn() })
  await opening.ended
  expect(resultsOf(opening.state())).toEqual(['gone.json failed: gone.json cannot be read: it was moved'])
})

test('An opening that is cancelled keeps what is stored and reads no further file', async () => {
  const importFile = vi.fn(async ({ name }: File, { signal }: { readonly signal?: AbortSignal } = {}) => {
    if (name === 'b.json') {
      opening.cancel()
      signal?.throwIfAborted()
    }
    return IMPORTED
  })
  const opening = openFiles(
    { files: ['a.json', 'b.json', 'c.json'].map((name) => fileOf(name)), entries: [] },
    { importFile, mayBeListed: async () => false },
  )
  await opening.ended
  expect(opening.state().status).toBe('cancelled')
  expect(resultsOf(opening.state())).toEqual(['a.json stored', 'b.json unread', 'c.json unread'])
})

test('An opening ends with the first file if the server does not answer', async () => {
  const importFile = vi.fn(() => Promise.reject(new ApiError(0, 'UNREACHABLE', 'no answer')))
  const files = ['a.json', 'b.json'].map((name) => fileOf(name))
  const opening = openFiles({ files, entries: [] }, { importFile, mayBeListed: async () => false })
  await opening.ended
  expect(opening.state().status).toBe('cancelled')
  expect(resultsOf(opening.state())).toEqual(['a.json failed: no answer', 'b.json unread'])
})
