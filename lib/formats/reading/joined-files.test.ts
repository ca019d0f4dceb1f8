import { expect, test } from 'vitest'
import { type FolderFile, withJoinedFiles } from './joined-files.ts'

const event = (id: number) => JSON.stringify({ id, source: 'agent', action: 'message', args: { content: String(id) } })
const fileAt = (path: string, content: string): FolderFile => ({ path, file: () => new Blob([content]) })
/** Returns the paths of the files, with the contents of those that are joined. */
const joinedIn = async (files: readonly FolderFile[]) =>
  Promise.all(
    (await withJoinedFiles(files)).map(async (one) =>
      files.includes(one) ? one.path : `${one.path}: ${(await (await one.file()).text()).trim().replaceAll('\n', ' ')}`,
    ),
  )

test('Events in files of one folder become one file in the order of their names, and other files stay', async () => {
  const files = [
    fileAt('run/a.jsonl', event(0)),
    fileAt('run/events/10.json', event(10)),
    fileAt('run/events/9.json', event(9)),
    fileAt('run/events/11.json', '{'),
    fileAt('run/events/12.json', '{"messages": []}'),
    fileAt('run/other/1.json', event(1)),
  ]
  expect(await joinedIn(files)).toEqual([
    'run/a.jsonl',
    `run/events: ${event(9)} ${event(10)}`,
    'run/events/11.json',
    'run/events/12.json',
    'run/other/1.json',
  ])
})

test('Events without a folder become a file with the name of the first one', async () => {
  const files = [fileAt('b.json', event(1)), fileAt('a.json', event(0))]
  expect(await joinedIn(files)).toEqual([`a.json: ${event(0)} ${event(1)}`])
})

test('A folder whose first files are no events is not read further, and unreadable or huge files are no events', async () => {
  const read: string[] = []
  const path = (number: number) => `step/${number}.json`
  const contents = [
    () => Promise.reject(new Error('removed meanwhile')),
    () => Object.defineProperty(new Blob([event(1)]), 'size', { value: 2 ** 30 }),
    () => new Blob(['{"messages": []}']),
    () => new Blob([event(3)]),
    () => new Blob([event(4)]),
  ]
  const files = contents.map((content, number) => ({
    path: path(number),
    file: () => {
      read.push(path(number))
      return content()
    },
  }))
  expect(await withJoinedFiles(files)).toEqual(files)
  expect(read).toEqual([0, 1, 2].map(path))
})
