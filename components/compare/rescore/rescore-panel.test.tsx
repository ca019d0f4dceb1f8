import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { comparedOf, drawn, scorer } from '#lib/analysis/rescore/test-model.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Score, Scorer } from '#lib/trajectory/scoring/gathered.ts'
import type { ScoreRequest } from '#lib/trajectory/scoring/score.ts'
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
  /** Receives the tokens that the panel shows. */
  readonly tokens?: number[]
  readonly refusals?: Readonly<Record<string, string>>
}

function Page({ pair, score, changes, tokens = [], refusals = {} }: PageProps) {
  const servers: Scorer = { servers: ['s', 't'], defaultServer: 's', whyNot: (name) => refusals[name], score }
  const rescoring = useRescoring(pair, score)
  return (
    <>
      <RescorePanel
        rescoring={rescoring}
        scorer={servers}
        view={VIEW}
        onView={(change) => changes.push(change)}
        onToken={(token) => tokens.push(token)}
      />
      <p data-testid="summary">{JSON.stringify(rescoring.summary)}</p>
      <p data-testid="columns">
        {Object.keys(rescoring.pair.compared.right.trajectory.segments[1]?.columns ?? {}).join()}
      </p>
    </>
  )
}

function shown(pair: ShownPair, score: Score = scorer()) {
  const changes: Partial<CompareView>[] = []
  const tokens: number[] = []
  render(<Page pair={pair} score={score} changes={changes} tokens={tokens} />)
  const panel = screen.getByRole('region', { name: 'Rescore on a server' })
  return { changes, tokens, panel, user: userEvent.setup() }
}
const rescored = async (...asked: Parameters<typeof shown>) => {
  const page = shown(...asked)
  await page.user.click(screen.getByRole('button', { name: /^(Rescore both sides|Score on both servers)$/ }))
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

test('the rescore panel announces the beginning and the end of scoring, and not its progress', async () => {
  const held = Promise.withResolvers<void>()
  const score: Score = async function* (request, signal) {
    for await (const line of scorer()(request, signal)) {
      yield line
      if (line.kind === 'scores') await held.promise
    }
  }
  const { panel, user } = shown(DRIFTED, score)
  const status = within(panel).getByRole('status')
  await user.click(screen.getByRole('button', { name: 'Rescore both sides' }))
  expect(await within(panel).findByText(/[1-9]\d* of \d+ tokens scored…/)).toBeDefined()
  expect(within(panel).getAllByRole('status')).toEqual([status])
  expect(status.textContent).toMatch(/^Scoring \d+ tokens…$/)
  held.resolve()
  await screen.findByText('Largest changes')
  expect(status.textContent).toBe('Both sides are scored.')
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

test('one trajectory is scored twice by two servers: differences above their noise, the first jump, and a token in the lanes', async () => {
  const side = drawn('c a|b|c')
  const asked: ScoreRequest[] = []
  const { user, panel, tokens } = shown(pairOf(side, side), scorer(asked, { weights: { t: 1 } }))
  expect(screen.getByLabelText<HTMLSelectElement>('Right scored by').value).toBe('t')
  await user.click(screen.getByRole('button', { name: 'Score on both servers' }))
  const report = await screen.findByRole('region', { name: 'Difference between the servers' })
  expect(asked.map(({ server }) => server).toSorted()).toEqual(['s', 's', 't', 't'])
  expect(report.textContent).toContain('3 of 3 tokens differ by more than the noise floor of 0 nats.')
  expect(within(report).getByText('noise of s')).toBeDefined()
  expect(within(report).getByText('noise of t')).toBeDefined()
  expect(within(report).getByRole('img', { name: /^\|Δ\| along 4 tokens/ })).toBeDefined()
  await user.click(within(report).getByRole('button', { name: /^First jump/ }))
  const [largest] = within(screen.getByRole('list', { name: 'Largest changes' })).getAllByRole('button')
  await user.click(largest as HTMLElement)
  expect(tokens).toHaveLength(2)
  expect(within(panel).getByText('Left side')).toBeDefined()
  expect(within(panel).getByText('Right side')).toBeDefined()
})

test('differences within the noise of a server are not listed as changes, and the panel says so', async () => {
  const side = drawn('c a|b|c')
  let pass = 0
  const noisy: Score = async function* (request, signal) {
    const weights = request.server === 't' ? ++pass : 0
    yield* scorer([], { weights: { t: weights } })(request, signal)
  }
  await rescored(pairOf(side, side), noisy)
  const report = await screen.findByRole('region', { name: 'Difference between the servers' })
  expect(report.textContent).toMatch(/unknown: its weights changed between both passes/)
  expect(report.textContent).toContain('this may be noise')
})

test('without the second pass the noise is unknown, and servers that agree are said to', async () => {
  const side = drawn('c a|b|c')
  const { user } = shown(pairOf(side, side))
  await user.click(screen.getByLabelText('Score twice'))
  await user.click(screen.getByRole('button', { name: 'Score on both servers' }))
  const report = await screen.findByRole('region', { name: 'Difference between the servers' })
  expect(report.textContent).toContain('Both servers give the same logprobs for all 3 tokens.')
  expect(within(report).queryByText('noise of s')).toBeNull()
})

test('a server that dies in the second pass leaves the differences of the first one, without a noise floor', async () => {
  const side = drawn('c a|b|c')
  let calls = 0
  const dying: Score = async function* (request, signal) {
    const failAfter = ++calls > 2 ? 0 : Number.POSITIVE_INFINITY
    yield* scorer([], { weights: { t: 1 }, failAfter })(request, signal)
  }
  const { panel } = await rescored(pairOf(side, side), dying)
  expect((await screen.findByRole('alert')).textContent).toContain('The server crashed')
  expect(panel.dataset.rescore).toBe('failed')
  const report = screen.getByRole('region', { name: 'Difference between the servers' })
  expect(report.dataset.floor).toBe('unknown')
})

test('the rescore panel says that the same ids on one server cannot be compared', async () => {
  const side = drawn('c a|b|c')
  const { user } = shown(pairOf(side, side))
  await user.selectOptions(screen.getByLabelText('Right scored by'), 's')
  await user.click(screen.getByRole('button', { name: 'Rescore both sides' }))
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
  await user.click(screen.getByRole('button', { name: 'Score on both servers' }))
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
  for (const option of screen.getAllByRole<HTMLOptionElement>('option', { name: 's (cannot score)' }))
    expect(option.disabled).toBe(true)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Left scored by' }), 't')
  expect(button.disabled).toBe(false)
})
