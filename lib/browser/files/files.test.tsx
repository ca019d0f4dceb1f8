import { afterEach, describe, expect, test, vi } from 'vitest'
import { EXCLUDED_HEADER, type ExportPreview } from '#lib/api/export-preview.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { ApiError } from '../api.ts'
import type { TrajectoryTasks } from '../workers/inspection.ts'
import { type ExportChoice, exportsOf, loadSeveralExports, type SeveralExports } from './files.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('an export of several trajectories', () => {
  const preview: ExportPreview = {
    samples: 2,
    forced: 0,
    excluded: [{ key: 'c', title: 'third', why: 'No tokens: the run has just started.' }],
    formats: [
      {
        name: 'slime',
        lost: [
          { text: 'messages', samples: 2 },
          { text: 'alternatives', samples: 1 },
        ],
      },
    ],
  }
  /** Loads the exports from a server whose answer to each path is `answer`. */
  async function loaded(answer: (path: string) => Response, signal = new AbortController().signal) {
    const requests: unknown[] = []
    vi.stubGlobal('fetch', async (path: string, { body }: RequestInit) => {
      requests.push(JSON.parse(String(body)))
      return answer(path)
    })
    const shown: SeveralExports[] = []
    const previewErrors: unknown[] = []
    const saveError = Promise.withResolvers<unknown>()
    await loadSeveralExports(['a', 'b', 'c'], {
      onExports: (exports) => shown.push(exports),
      onPreviewError: (error) => previewErrors.push(error),
      onSaveError: saveError.resolve,
      signal,
    })
    return { shown, requests, previewErrors, saveError: saveError.promise }
  }

  test('shows the formats at once, then what the file leaves out and what some or all of the samples lose', async () => {
    const { shown, previewErrors } = await loaded(() => Response.json(preview))
    expect(shown.map((one) => one.preview?.excluded)).toEqual([undefined, preview.excluded])
    expect(shown[0]?.choices.map(({ name }) => name)).toEqual(writableFormats.map(({ name }) => name))
    expect(shown[1]?.choices.find(({ name }) => name === 'slime')?.lost).toEqual(['messages', 'alternatives (1 of 2)'])
    expect(shown[1]?.choices.find(({ name }) => name === 'rollscope')?.lost).toEqual([])
    expect(previewErrors).toEqual([])
  })

  test('is refused in formats that need tokens if no trajectory has any, and formats of messages count all', async () => {
    const lost = [{ text: 'reward', samples: 1 }]
    const none = { ...preview, samples: 0, formats: [{ name: 'atif', lost }] }
    const { shown } = await loaded(() => Response.json(none))
    const choice = (format: string) => shown[1]?.choices.find(({ name }) => name === format)
    expect(choice('slime')).toMatchObject({ refusal: 'Not possible: no trajectory has tokens.' })
    expect(choice('atif')).toMatchObject({ lost: ['reward'] })
    const some = await loaded(() => Response.json({ ...none, samples: 1 }))
    expect(some.shown[1]?.choices.find(({ name }) => name === 'atif')?.lost).toEqual(['reward (1 of 2)'])
  })

  test('can still be chosen when the preview fails, and stays silent once its dialog is closed', async () => {
    const failing = () => Response.json({ title: 'x', code: 'DAMAGED', detail: 'damaged: b' }, { status: 500 })
    const { shown, previewErrors } = await loaded(failing)
    expect([shown.length, previewErrors]).toEqual([1, [expect.objectContaining({ code: 'DAMAGED' })]])
    const closed = await loaded(failing, AbortSignal.abort())
    expect([closed.shown, closed.previewErrors]).toEqual([[], []])
  })

  test('names its file by the number of samples in it', async () => {
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => {} }))
    const name = new Promise((resolve) => {
      vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
        resolve(this.download)
      })
    })
    const { shown, requests } = await loaded((path) =>
      path.endsWith('preview') ? Response.json(preview) : new Response('{}\n', { headers: { [EXCLUDED_HEADER]: '1' } }),
    )
    shown[1]?.choices[0]?.save('trained', 'mean')
    expect(await name).toBe('trajectories-2.jsonl')
    const request = { keys: ['a', 'b', 'c'], forced: 'trained' }
    expect(requests.at(-1)).toEqual({ ...request, format: 'rollscope', advantage: 'mean' })
    // A format without advantages is not asked for them.
    shown[1]?.choices.find(({ name }) => name === 'slime')?.save('trained', 'mean')
    expect(requests.at(-1)).toEqual({ ...request, format: 'slime' })
  })

  test('that breaks off half-way is an error, and nothing is saved', async () => {
    const cut = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{}\n'))
            controller.error(new TypeError('terminated'))
          },
        }),
      )
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click')
    const { shown, saveError } = await loaded((path) => (path.endsWith('preview') ? Response.json(preview) : cut()))
    shown[0]?.choices[0]?.save('context')
    const error = await saveError
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'CUT_REPLY' })
    expect(saved).not.toHaveBeenCalled()
  })
})

describe('the exports of a trajectory', () => {
  /** Returns tasks by name that the test resolves. */
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

  test('are listed at once, and with losses when these are known', async () => {
    const { tasks, asked } = byHand()
    const reported: (readonly ExportChoice[])[] = []
    const { choices } = await exportsOf(
      sampleTrajectory,
      (all) => reported.push(all),
      () => expect.unreachable(),
      { tasks },
    )
    expect(choices.map(({ name, lost }) => [name, lost])).toEqual(writableFormats.map(({ name }) => [name, undefined]))
    asked.get('exportLosses')?.resolve(writableFormats.map(({ name }) => ({ name, lost: [`${name} loses this`] })))
    await settled()
    expect(reported[0]?.map(({ lost }) => lost)).toEqual(writableFormats.map(({ name }) => [`${name} loses this`]))
  })

  test('of a trajectory with messages only are those of its messages', async () => {
    const segments = [{ kind: 'prompt' as const, ids: [], messages: [{ role: 'user' as const, content: 'Hi' }] }]
    const { choices, close } = await exportsOf(
      { ...sampleTrajectory, segments },
      () => {},
      () => expect.unreachable(),
      { tasks: byHand().tasks },
    )
    expect(choices.filter(({ refusal }) => refusal === undefined).map(({ name }) => name)).toEqual([
      'rollscope',
      'atif',
      'openai-messages',
      'template-messages',
      'csv',
    ])
    close()
  })

  test('finish the chosen file after the dialog was closed', async () => {
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => {} }))
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {})
    const { tasks, noted, asked } = byHand()
    const { choices, close } = await exportsOf(
      sampleTrajectory,
      () => {},
      () => expect.unreachable(),
      { tasks },
    )
    choices[0]?.save('context')
    close()
    expect(asked.get('exportLosses')?.signal.aborted).toBe(true)
    expect(noted).toEqual([])
    asked.get('trainerFile')?.resolve({ name: 'a.json', text: '{}' })
    await settled()
    expect(saved).toHaveBeenCalledOnce()
    expect(noted).toEqual(['ended'])
  })

  test('of a stored sample with advantages are written by the server, which knows the rewards of the group', async () => {
    const { tasks, asked } = byHand()
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => {} }))
    const names: string[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    const paths: string[] = []
    vi.stubGlobal('fetch', async (path: string) => {
      paths.push(path)
      return paths.length === 1
        ? new Response('{}')
        : Response.json({ code: 'NO_ADVANTAGE', detail: 'none of the trajectories has one' }, { status: 422 })
    })
    const errors: unknown[] = []
    const { choices } = await exportsOf(
      sampleTrajectory,
      () => {},
      (error) => errors.push(error),
      { tasks, storedKey: 'a/b' },
    )
    const save = (name: string) => choices.find((choice) => choice.name === name)?.save('trained', 'mean')
    expect(choices.filter(({ keepsAdvantages }) => keepsAdvantages).map(({ name }) => name)).toEqual([
      'rollscope',
      'verifiers',
    ])
    save('verifiers')
    await settled()
    expect(paths).toEqual(['/api/trajectories/a%2Fb/export?format=verifiers&forced=trained&advantage=mean'])
    expect(names).toEqual(['trajectory-sample.verifiers.json'])
    save('rollscope')
    await settled()
    expect(errors).toMatchObject([{ code: 'NO_ADVANTAGE' }])
    // A format without advantages is written here.
    save('slime')
    expect([paths.length, asked.has('trainerFile')]).toEqual([2, true])
  })

  test('report an error of a file', async () => {
    const { tasks, asked } = byHand()
    const wrongs: unknown[] = []
    const { choices } = await exportsOf(
      sampleTrajectory,
      () => {},
      (error) => wrongs.push(error),
      { tasks },
    )
    choices[0]?.save('context')
    asked.get('trainerFile')?.reject(new Error('no memory'))
    await settled()
    expect(wrongs).toEqual([new Error('no memory')])
  })
})
