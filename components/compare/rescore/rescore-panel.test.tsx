import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { comparedOf, drawn, scorer } from '#lib/analysis/rescore/test-model.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Score, Scorer } from '#lib/trajectory/scoring/gathered.ts'
import type { CompareView, ShownPair } from '../view.ts'
import { RescorePanel } from './rescore-panel.tsx'
import { useRescoring } from './use-rescoring.ts'

const RECORDED = { key: 'k', as: { kind: 'recorded' } } as const
const pairOf = (left: Trajectory, right: Trajectory): ShownPair => ({
  left: RECORDED,
  right: { key: 'k', as: { kind: 'text' } },
  compared: comparedOf(left, right),
})
const DRIFTED = pairOf(drawn('c a|b|c|a', { sampling: { temperature: 1 }, noise: 0.01 }), drawn('c ab|c|a'))

const VIEW: CompareView = { drift: undefined, onlyDifferences: false, isUnified: false, colour: 'mask' }

interface PageProps {
  readonly pair: ShownPair
  readonly score: Score
  readonly changes: Partial<CompareView>[]
  readonly refusals?: Readonly<Record<string, string>>
}

function Page({ pair, score, changes, refusals = {} }: PageProps) {
  const servers: Scorer = { servers: ['s', 't'], defaultServer: 's', refusals, score }
  const rescoring = useRescoring(pair, score)
  return (
    <>
      <RescorePanel rescoring={rescoring} scorer={servers} view={VIEW} onView={(change) => changes.push(change)} />
      <p data-testid="summary">{JSON.stringify(rescoring.summary)}</p>
      <p data-testid="columns">
        {Object.keys(rescoring.pair.compared.right.trajectory.segments[1]?.columns ?? {}).join()}
      </p>
    </>
  )
}

function shown(pair: ShownPair, score: Score = scorer()) {
  const changes: Partial<CompareView>[] = []
  render(<Page pair={pair} score={score} changes={changes} />)
  const panel = screen.getByRole('region', { name: 'Rescore on a server' })
  return { changes, panel, user: userEvent.setup() }
}
const rescored = async (...asked: Parameters<typeof shown>) => {
  const page = shown(...asked)
  await page.user.click(screen.getByRole('button', { name: 'Rescore both sides' }))
  return page
}

test('the rescore panel scores both sides, links the largest change to its drift span, and adds columns to the tokens', async () => {
  const { panel, user, changes } = await rescored(DRIFTED)
  await screen.findByText('Largest changes')
  expect(panel.dataset.rescore).toBe('rescored')
  expect(screen.getByTestId('columns').textContent).toBe('prefill,delta,ratio')
  expect(JSON.parse(screen.getByTestId('summary').textContent)).toMatchObject({
    meanLogprob: expect.anything(),
    noiseFloor: expect.closeTo(0.01),
  })
  await user.click(
    within(screen.getByRole('list', { name: 'Largest changes' })).getAllByRole('button')[0] as HTMLElement,
  )
  await user.click(screen.getByRole('button', { name: 'Colour by difference' }))
  expect(changes).toEqual([{ drift: 0 }, { colour: 'column:delta' }])
})

test('the rescore panel shows the noise floor with the temperature of the samples', async () => {
  const { panel } = await rescored(DRIFTED)
  await screen.findByText(/sampled at temperature 1/)
  expect(panel.querySelector('[data-noise]')?.getAttribute('data-noise')).toMatch(/^0\.01/)
})

test('the rescore panel shows no noise floor for samples at another temperature, and says why', async () => {
  await rescored(pairOf(drawn('c a|b|c', { sampling: { temperature: 0.7 } }), drawn('c ab|c')))
  await screen.findByText('Not comparable: sampled at temperature 0.7; prefill is at temperature 1.')
})

test('the clip preview clips more tokens at a stricter threshold, and lists them', async () => {
  const { panel, user } = await rescored(DRIFTED)
  await screen.findByText('Largest changes')
  const clipped = () => Number(panel.querySelector('output')?.dataset.clipped)
  fireEvent.change(screen.getByRole('slider', { name: 'C' }), { target: { value: '0' } })
  const most = clipped()
  fireEvent.change(screen.getByRole('slider', { name: 'C' }), { target: { value: '2' } })
  expect(most).toBeGreaterThan(0)
  expect(clipped()).toBe(0)
  await user.click(screen.getByRole('button', { name: 'Mask' }))
  fireEvent.change(screen.getByRole('slider', { name: 'Low' }), { target: { value: '0' } })
  expect(clipped()).toBeGreaterThan(0)
  expect(screen.getByRole('list', { name: 'Clipped', hidden: true })).toBeDefined()
})

test('the rescore panel compares two checkpoints on the same ids with two servers', async () => {
  const side = drawn('c a|b|c')
  const { user, panel } = shown(pairOf(side, side), scorer([], { weights: { t: 1 } }))
  await user.selectOptions(screen.getByLabelText('Right scored by'), 't')
  await user.click(screen.getByRole('button', { name: 'Rescore both sides' }))
  await screen.findByText('Largest changes')
  expect(within(panel).getByText('Left side')).toBeDefined()
  expect(within(panel).getByText('Right side')).toBeDefined()
})

test('the rescore panel says that the same ids on one server cannot be compared', async () => {
  const side = drawn('c a|b|c')
  await rescored(pairOf(side, side))
  await screen.findByText(/every ratio is 1/)
})

test('the rescore panel gives a reason for each drift span without a ratio', async () => {
  await rescored(pairOf(drawn('c a|b|aa|ab|bc'), drawn('c a|c|aa|ab|bc')))
  await screen.findByText(/different text: the probabilities/)
})

test('the rescore panel says that totals are missing without trained tokens', async () => {
  await rescored(pairOf(drawn('c|a|b|c'), drawn('c|ab|c')))
  await screen.findByText(/has no trained tokens/)
})

test('the rescore panel says that there is nothing to rescore without trained tokens and drift', async () => {
  const side = drawn('c|a|b')
  const { panel } = await rescored(pairOf(side, side))
  expect(panel.dataset.rescore).toBe('empty')
})

test('“Score all tokens” also scores tokens that are not trained', async () => {
  const side = drawn('c|a|b')
  const { panel, user } = shown(pairOf(side, side))
  await user.click(screen.getByLabelText('Score all tokens'))
  await user.click(screen.getByRole('button', { name: 'Rescore both sides' }))
  await expect.poll(() => panel.dataset.rescore).toBe('rescored')
})

test('the rescore panel shows the hint of a server failure and keeps the scores so far', async () => {
  const { panel } = await rescored(DRIFTED, scorer([], { failAfter: 2 }))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('The server crashed')
  expect(alert.textContent).toContain('try again')
  expect(panel.dataset.rescore).toBe('failed')
})

test('the rescore panel keeps the scores so far after a cancel', async () => {
  let release = () => {}
  const held: Score = async function* (request, signal) {
    const lines = scorer()(request, signal)
    yield* [(await lines.next()).value, (await lines.next()).value]
    await new Promise<void>((resolve) => {
      release = resolve
    })
    yield* lines
  }
  const { user, panel } = await rescored(DRIFTED, held)
  await screen.findByText(/2 of .* tokens scored/)
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  release()
  await screen.findByText('Cancelled.')
  expect(panel.dataset.rescore).toBe('cancelled')
})

test('the rescore panel is disabled while a side is scored by a server that cannot score, and says why once', async () => {
  const why = 'llama.cpp returns no logprobs of prompts.'
  render(<Page pair={DRIFTED} score={scorer()} changes={[]} refusals={{ s: why }} />)
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Rescore both sides' })
  expect(button.disabled).toBe(true)
  expect(screen.getAllByText(why)).toHaveLength(1)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Left scored by' }), 't')
  expect(button.disabled).toBe(false)
})
