import { afterEach, describe, expect, test, vi } from 'vitest'
import { sampleTrajectory } from '#lib/core/sample-trajectory.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { ApiError } from './api.ts'
import { type ExportChoice, exportsOf, severalExportChoices } from './files.ts'
import type { TrajectoryTasks } from './inspection.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test('a file of several that breaks off half-way is told, and not saved', async () => {
  vi.stubGlobal(
    'fetch',
    async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{}\n'))
            controller.error(new TypeError('terminated'))
          },
        }),
      ),
  )
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click')
  const told = await new Promise((resolve) => {
    severalExportChoices(['a', 'b'], resolve).then(([first]) => first?.save())
  })
  expect(told).toBeInstanceOf(ApiError)
  expect(told).toMatchObject({ code: 'CUT_REPLY' })
  expect(saved).not.toHaveBeenCalled()
})

describe('the exports of a trajectory', () => {
  /** Tasks that are answered by hand, by name. */
  function byHand() {
    const asked = new Map<string, PromiseWithResolvers<unknown> & { readonly signal: AbortSignal }>()
    const noted: string[] = []
    const tasks: TrajectoryTasks = {
      run: () =>
        ((name: string, _: unknown, { signal }: { readonly signal: AbortSignal }) => {
          const answer = { ...Promise.withResolvers<unknown>(), signal }
          asked.set(name, answer)
          return answer.promise
        }) as never,
      prepare: () => expect.unreachable(),
      release: () => expect.unreachable(),
      dispose: () => noted.push('ended'),
    }
    return { tasks, noted, asked }
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve))

  test('are there at once, and say what is lost when that is known', async () => {
    const { tasks, asked } = byHand()
    const told: (readonly ExportChoice[])[] = []
    const { choices } = await exportsOf(
      sampleTrajectory,
      (all) => told.push(all),
      () => expect.unreachable(),
      tasks,
    )
    expect(choices.map(({ name, lost }) => [name, lost])).toEqual(writableFormats.map(({ name }) => [name, undefined]))
    asked.get('exportLosses')?.resolve(writableFormats.map(({ name }) => ({ name, lost: [`${name} loses this`] })))
    await settled()
    expect(told[0]?.map(({ lost }) => lost)).toEqual(writableFormats.map(({ name }) => [`${name} loses this`]))
  })

  test('write to the end what was chosen before they were closed', async () => {
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => {} }))
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {})
    const { tasks, noted, asked } = byHand()
    const { choices, close } = await exportsOf(
      sampleTrajectory,
      () => {},
      () => expect.unreachable(),
      tasks,
    )
    choices[0]?.save()
    close()
    expect(asked.get('exportLosses')?.signal.aborted).toBe(true)
    expect(noted).toEqual([])
    asked.get('trainerFile')?.resolve({ name: 'a.json', text: '{}' })
    await settled()
    expect(saved).toHaveBeenCalledOnce()
    expect(noted).toEqual(['ended'])
  })

  test('tell what went wrong with a file', async () => {
    const { tasks, asked } = byHand()
    const wrongs: unknown[] = []
    const { choices } = await exportsOf(
      sampleTrajectory,
      () => {},
      (error) => wrongs.push(error),
      tasks,
    )
    choices[0]?.save()
    asked.get('trainerFile')?.reject(new Error('no memory'))
    await settled()
    expect(wrongs).toEqual([new Error('no memory')])
  })
})
