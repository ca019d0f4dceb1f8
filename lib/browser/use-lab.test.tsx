import { renderHook } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { useLab } from './workers/lab.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('A page has one lab, whose worker ends with the page', async () => {
  const workers: string[] = []
  vi.stubGlobal(
    'Worker',
    class {
      constructor(url: URL, { type }: WorkerOptions) {
        workers.push(`${type} ${url.pathname.split('/').at(-1)}`)
      }
      postMessage() {}
      terminate() {
        workers.push('ended')
      }
    },
  )
  const { result, rerender, unmount } = renderHook(() => useLab())
  const lab = result.current
  rerender()
  expect(result.current).toBe(lab)
  const run = lab.run as unknown as (name: string, request: null, options: object) => Promise<unknown>
  const running = run('any', null, { tokenizers: [], signal: new AbortController().signal })
  expect(workers).toEqual(['module lab-worker.ts'])
  unmount()
  await expect(running).rejects.toMatchObject({ code: 'STOPPED' })
  expect(workers).toEqual(['module lab-worker.ts', 'ended'])
})
