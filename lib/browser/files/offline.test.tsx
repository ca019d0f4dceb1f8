import { Blob } from 'node:buffer'
import { afterEach, expect, test, vi } from 'vitest'
import { inspectTasks } from '#lib/analysis/tasks.ts'
import { unpackDocument } from '#lib/share/offline/payload.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { TrajectoryTasks } from '../workers/inspection.ts'
import { FileError } from './file-error.ts'
import { exportOffline, type ShownView } from './offline.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  document.head.replaceChildren()
})

const shown: ShownView = {
  colour: 'mask',
  limit: 2,
  selection: { anchor: 1, focus: 3 },
  find: 'hi',
  folds: { segments: new Set([1]), thinks: new Set([3]) },
  marks: [
    { kind: 'hit', ranges: Int32Array.from([0, 1]) },
    { kind: 'cut', ranges: Int32Array.from([3, 4]) },
  ],
}
const PARTS = { alternatives: true, messages: true, labels: true }

/** Runs the task itself, because tests have no worker. */
function tasks(): Pick<TrajectoryTasks, 'run' | 'dispose'> {
  const run = async (name: 'offlineFile', request: never) => {
    const steps = inspectTasks[name](request, sample, [])
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
    }
  }
  return { run: () => run as unknown as ReturnType<TrajectoryTasks['run']>, dispose: vi.fn() }
}

test('An offline file contains the script, the styles with their fonts, and the view', async () => {
  document.head.innerHTML = '<link rel="stylesheet" href="/styles/a.css">'
  const font = '@font-face{font-family:Mono;src:url(../files/m.woff2);unicode-range:U+0-7F}'
  const asked: string[] = []
  const answers = new Map([
    ['/built/offline.js', 'start()'],
    ['/styles/a.css', `${font} a{}`],
    ['/files/m.woff2', 'FONT'],
  ])
  vi.stubGlobal('fetch', async (address: string) => {
    const { pathname } = new URL(address, location.href)
    asked.push(pathname)
    return new Response(answers.get(pathname))
  })
  // The Blob of jsdom cannot be read.
  vi.stubGlobal('Blob', Blob)
  const saved: Blob[] = []
  vi.stubGlobal(
    'URL',
    Object.assign(URL, { createObjectURL: (blob: Blob) => `blob:${saved.push(blob)}`, revokeObjectURL() {} }),
  )
  const given = tasks()
  await exportOffline(sample, shown, PARTS, given)
  expect(asked.sort()).toEqual([...answers.keys()].sort())
  const html = (await saved[0]?.text()) ?? ''
  expect(html).toContain('<script>start()</script>')
  expect(html).toContain(`url(data:font/woff2;base64,${btoa('FONT')})`)
  const { view } = await unpackDocument(JSON.parse(/id="rollscope-document">([^<]*)</.exec(html)?.[1] ?? ''))
  expect(view).toEqual({
    ...shown,
    folds: { segments: [1], thinks: [3] },
    marks: [{ kind: 'cut', ranges: [3, 4] }],
  })
  expect(given.dispose).toHaveBeenCalledOnce()
})

test.each([
  ['nobody answers', async () => Promise.reject(new TypeError('failed to fetch'))],
  ['the file is not there', async () => new Response('', { status: 404 })],
])('An offline file reports a part that cannot be read: %s', async (_what, fetch) => {
  vi.stubGlobal('fetch', fetch)
  const given = tasks()
  await expect(exportOffline(sample, shown, PARTS, given)).rejects.toThrow(FileError)
  expect(given.dispose).toHaveBeenCalledOnce()
})
