/** Tests the page's side of comparing with the real tasks and the built-in model's tokenizer. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { CompareStep } from '#lib/analysis/compare/compare-sides.ts'
import type { Reconstruction } from '#lib/analysis/compare/side.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { inThisThread } from '#testing/worker.ts'
import { compareHost } from './compare-host.ts'
import { comparePair, createCompareWorker } from './comparison.ts'

const drifting = exampleTrajectory('retokenization-drift')

const model = (file: string) => readFileSync(`models/tiny-qwen3/${file}`, 'utf8')
const files = JSON.stringify({
  tokenizerJson: model('tokenizer.json'),
  tokenizerConfigJson: model('tokenizer_config.json'),
})

function comparing() {
  const workers: ReturnType<typeof inThisThread>[] = []
  const asked: string[] = []
  const made = createCompareWorker({
    createWorker: () => {
      const worker = inThisThread(compareHost)
      workers.push(worker)
      return worker as never
    },
    fetchTokenizer: async (name) => {
      asked.push(name)
      return new TextEncoder().encode(files).buffer as ArrayBuffer
    },
    stepMs: 30_000,
    cancelledStepMs: 1_000,
    tooLongHint: '',
  })
  return { ...made, workers, asked }
}

interface Asked {
  readonly signal?: AbortSignal
  readonly template?: string
  readonly onStep?: (step: CompareStep) => void
}

function pairing({ run }: ReturnType<typeof comparing>, given: TrajectoryView, as: Reconstruction, asked: Asked = {}) {
  const { signal = new AbortController().signal, template = '', onStep = () => {} } = asked
  const chosen = (as: Reconstruction) => ({ side: { key: 'k', as }, trajectory: given })
  return comparePair(
    run,
    { left: chosen({ kind: 'recorded' }), right: chosen(as) },
    { templateOf: async () => template, signal, onStep },
  )
}

test('The compare worker makes a pair step by step, and the recorded side stays the page’s object', async () => {
  const page = comparing()
  const steps: CompareStep[] = []
  const found = await pairing(page, drifting, { kind: 'text' }, { onStep: (step) => steps.push(step) })
  if (!found.ok) throw new Error(found.why)
  expect(steps.filter((step, index) => step !== steps[index - 1])).toEqual(['left', 'right', 'calls', 'drift'])
  expect(found.value.left.trajectory).toBe(drifting)
  expect(found.value.comparison.report.spans).toHaveLength(3)
  expect(page.asked).toEqual([drifting.model.tokenizer?.name])
  page.dispose()
})

test('The compare worker makes a side with the chosen tokenizer and template', async () => {
  const page = comparing()
  const as: Reconstruction = { kind: 'raw', tokenizer: 'another/one', template: { kind: 'lab' } }
  const found = await pairing(page, drifting, as, { template: 'always the same' })
  if (!found.ok) throw new Error(found.why)
  expect(page.asked).toEqual(['another/one'])
  expect(found.value.right.trajectory.model.template?.text).toBe('always the same')
  page.dispose()
})

test('The page reports a side without a named tokenizer without the compare worker', async () => {
  const page = comparing()
  const { tokenizer: _, ...rest } = drifting.model
  expect(await pairing(page, { ...drifting, model: rest }, { kind: 'text' })).toMatchObject({
    ok: false,
    side: 'right',
  })
  expect(page.workers).toEqual([])
})

test('The compare worker cancels a pair that the page leaves, and makes the next one', async () => {
  const page = comparing()
  const leaving = new AbortController()
  const left = pairing(page, drifting, { kind: 'text' }, { signal: leaving.signal, onStep: () => leaving.abort() })
  await expect(left).rejects.toMatchObject({ name: 'AbortError' })
  expect((await pairing(page, drifting, { kind: 'structured' })).ok).toBe(true)
  expect(page.workers).toHaveLength(1)
  page.dispose()
})

test('The compare worker releases a trajectory that is no longer shown', async () => {
  const page = comparing()
  await pairing(page, drifting, { kind: 'text' })
  page.release(drifting)
  expect(page.workers[0]?.got.at(-1)?.kind).toBe('release')
  page.dispose()
})
