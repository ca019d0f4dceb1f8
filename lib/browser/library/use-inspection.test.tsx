import { renderHook } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { useInspection } from './use-inspection.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const trajectory = exampleTrajectory('two-steps')

/** Records which workers are started, sent messages and ended. */
function noteWorkers(): string[] {
  const noted: string[] = []
  vi.stubGlobal(
    'Worker',
    class {
      constructor(url: URL) {
        noted.push(url.pathname.split('/').at(-1) as string)
      }
      postMessage({ request }: { readonly request: { readonly kind: string; readonly name: string } }) {
        noted.push(`${request.kind} ${request.name}`)
      }
      terminate() {
        noted.push('ended')
      }
    },
  )
  return noted
}

test('The hook useInspection prepares a page after its first paint, releases hidden trajectories, and ends its workers', async () => {
  vi.useFakeTimers()
  const noted = noteWorkers()
  const { result, rerender, unmount } = renderHook(
    ({ shown }: { readonly shown: TrajectoryView }) => useInspection(shown),
    { initialProps: { shown: trajectory } },
  )
  const run = result.current
  rerender({ shown: trajectory })
  expect(result.current).toBe(run)
  expect(noted).toEqual([])
  await vi.advanceTimersByTimeAsync(500)
  expect(noted).toEqual(['inspect-worker.ts', 'resource trajectory 1'])
  rerender({ shown: { ...trajectory, title: 'changed' } })
  expect(result.current).not.toBe(run)
  await vi.advanceTimersByTimeAsync(500)
  expect(noted.slice(2)).toEqual(['release trajectory 1', 'resource trajectory 2'])
  unmount()
  expect(noted.at(-1)).toBe('ended')
})
