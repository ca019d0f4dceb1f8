/** Tests of the summary, the drift list, the card and the side choosers with a real drift. */
import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import type { Side } from '#lib/analysis/compare/side.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { looksBack } from '#testing/small-templates.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { CorpusStart } from './corpus/corpus-start.tsx'
import { DriftCard } from './drift/drift-card.tsx'
import { DriftList } from './drift/drift-list.tsx'
import { type DriftFilter, NO_FILTER } from './drift/drift-steps.ts'
import { SummaryStrip } from './drift/summary-strip.tsx'
import { Caveats } from './sides/caveats.tsx'
import { areTwoSamples } from './sides/side-words.ts'
import { SidesBar } from './sides/sides-bar.tsx'
import type { CompareView, ShownPair } from './view.ts'

afterEach(cleanup)

const tokenizer = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
const drifting = exampleTrajectory('retokenization-drift')

function pairOf(right: Side['as']): ShownPair {
  const given = { trajectory: drifting, tokenizer, template: undefined }
  const comparing = compareSides({ ...given, as: { kind: 'recorded' } }, { ...given, as: right })
  if (!comparing.ok) throw new Error(comparing.why)
  const side = (as: Side['as']): Side => ({ key: 'k', as })
  return { left: side({ kind: 'recorded' }), right: side(right), compared: comparing.value }
}
const pair = pairOf({ kind: 'text' })

const VIEW: CompareView = { drift: undefined, onlyDifferences: false, isUnified: false, colour: 'mask' }

function Strip({ shown = pair }: { readonly shown?: ShownPair }) {
  const [view, setView] = useState(VIEW)
  return (
    <>
      <output>{view.drift}</output>
      <SummaryStrip
        pair={shown}
        view={view}
        onView={(change) => setView({ ...view, ...change })}
        rescored={{ meanLogprob: { left: -0.21, right: -0.58 }, minImportanceRatio: 0.62, noiseFloor: undefined }}
      />
    </>
  )
}

describe('the summary of a comparison', () => {
  test('steps to the next span of a kind on each click, and from the last to the first', async () => {
    render(<Strip />)
    const split = screen.getByRole('button', { name: '3 split' })
    for (const drift of ['0', '1', '2', '0']) {
      await userEvent.click(split)
      expect(screen.getAllByRole('status')[0]?.textContent).toBe(drift)
    }
  })

  test('shows the known figures of rescoring', () => {
    render(<Strip />)
    const strip = screen.getByRole('region', { name: 'Summary' })
    expect(within(strip).getByText('−0.21 → −0.58')).toBeTruthy()
    expect(within(strip).getByText('0.62')).toBeTruthy()
    expect(within(strip).queryByText('noise floor')).toBeNull()
  })

  test('shows the costs of the calls and copies them as a sentence', async () => {
    const user = userEvent.setup()
    render(<Strip />)
    const strip = within(screen.getByRole('region', { name: 'Summary' }))
    const { prefix, sentence = '' } = pair.compared.comparison.report
    const all = prefix.kept + prefix.lost
    expect(strip.getByText(`prefix cache kept · ${prefix.lost} of ${all} lost`)).toBeTruthy()
    expect(strip.getByText(/^training row · \d+ tokens become context$/)).toBeTruthy()
    await user.click(strip.getByRole('button', { name: 'Copy a sentence for an issue' }))
    expect(await navigator.clipboard.readText()).toBe(sentence)
    expect(sentence).toMatch(/^With its text encoded again your trainer sees 1 row; /)
    expect(await strip.findByText('Copied.')).toBeTruthy()
  })

  test('shows no costs and no sentence for two recorded sides', () => {
    render(<Strip shown={pairOf({ kind: 'recorded' })} />)
    expect(screen.queryByText(/prefix cache|training row/)).toBeNull()
    expect(screen.queryByRole('button', { name: 'Copy a sentence for an issue' })).toBeNull()
  })

  test('reports with no drift how many tokens were compared', () => {
    render(<Strip shown={pairOf({ kind: 'recorded' })} />)
    expect(screen.getByText('No drift')).toBeTruthy()
    expect(screen.getByText('All 307 tokens of the left side have the same ids on the right.')).toBeTruthy()
  })
})

function List({ shown = pair }: { readonly shown?: ShownPair }) {
  const [view, setView] = useState(VIEW)
  const [filter, setFilter] = useState<DriftFilter>(NO_FILTER)
  return (
    <>
      <output>{view.drift}</output>
      <DriftList
        pair={shown}
        view={view}
        onView={(change) => setView({ ...view, ...change })}
        onPoint={() => {}}
        filter={filter}
        onFilter={setFilter}
      />
    </>
  )
}

describe('the drift list', () => {
  test('isolates the texts of both sides, so that a text from right to left does not change their order', () => {
    const { left, right } = pair.compared
    const written = (side: typeof left, text: string): typeof left => {
      const vocab = Object.fromEntries(Object.keys(side.trajectory.vocab).map((id) => [id, text]))
      return { ...side, trajectory: { ...side.trajectory, vocab } }
    }
    const compared = { ...pair.compared, left: written(left, 'א'), right: written(right, '\u202eב') }
    render(<List shown={{ ...pair, compared }} />)
    const [option] = within(screen.getByRole('listbox')).getAllByRole('option')
    const outside = option?.cloneNode(true) as HTMLElement
    for (const isolated of outside.querySelectorAll('bdi')) isolated.remove()
    expect(option?.textContent).toContain('א')
    expect(option?.textContent).toContain('⟨U+202E⟩')
    expect(outside.textContent).not.toMatch(/[א-ת\u202e]/)
  })

  test('moves the choice with the arrow keys and stops at its ends', async () => {
    render(<List />)
    screen.getByRole('listbox').focus()
    await userEvent.keyboard('{ArrowDown}{ArrowDown}')
    expect(screen.getByRole('status').textContent).toBe('1')
    await userEvent.keyboard('{End}{ArrowDown}')
    expect(screen.getByRole('status').textContent).toBe('2')
    expect(within(screen.getByRole('listbox')).getAllByRole('option', { selected: true })).toHaveLength(1)
    await userEvent.keyboard('{Home}')
    expect(screen.getByRole('status').textContent).toBe('0')
  })

  test('shows the token boundaries of a span whose sides have the same text', () => {
    render(<List />)
    const rows = within(screen.getByRole('listbox')).getAllByRole('option')
    expect(rows.map((row) => row.lastChild?.textContent)).toEqual([
      'use|r → user',
      'n|ame → name',
      'exp|ression → expression',
    ])
  })

  test('is empty for a severity without spans, and shows the total count', async () => {
    render(<List />)
    await userEvent.selectOptions(screen.getByLabelText('Severity'), 'tail')
    expect(within(screen.getByRole('listbox')).queryAllByRole('option')).toEqual([])
    expect(screen.getByText('0 of 3')).toBeTruthy()
  })
})

test('a layer filters the drift list, and the drift card names the layer', async () => {
  render(<List />)
  const listed = () => within(screen.getByRole('listbox')).queryAllByRole('option').length
  await userEvent.selectOptions(screen.getByLabelText('Layer'), 'structural (0)')
  expect(listed()).toBe(0)
  await userEvent.selectOptions(screen.getByLabelText('Layer'), 'content (3)')
  expect(listed()).toBe(3)
  cleanup()
  render(<DriftCard pair={pair} drift={0} state="pinned" linksOf={() => null} />)
  expect(screen.getByText('layer').closest('dt')?.nextSibling?.textContent).toBe('content')
})

test('the drift card shows the ids and the bytes of both sides', () => {
  render(
    <DriftCard pair={pair} drift={0} state="pinned" linksOf={(name) => <a href={`/${name}`}>{name} elsewhere</a>} />,
  )
  const card = screen.getByRole('region', { name: 'Drift span' })
  expect(within(card).getByText('Drift 1 of 3')).toBeTruthy()
  const [left, right] = within(card).getAllByRole('table')
  expect(within(left as HTMLElement).getAllByRole('row')).toHaveLength(3)
  expect(within(right as HTMLElement).getByText('75 73 65 72')).toBeTruthy()
  expect(within(card).getByRole('link', { name: 'left elsewhere' })).toBeTruthy()
  expect(within(card).getByRole('button', { name: 'Copy right ids' })).toBeTruthy()
})

describe('a comparison of two recorded samples', () => {
  const played = (reply: string, index: number, reward: number): Trajectory => ({
    ...simulateRollout(looksBack, [
      {
        messages: [{ role: 'user', content: 'hi' }],
        reply: byteTokenizer.encode(reply),
        finish: { kind: 'stop', matched: 0 },
      },
    ]).trajectory,
    group: { id: 'g', index },
    reward,
  })
  const [first, second] = [played('ho', 0, 0), played('hum', 3, 1)]
  const recorded = { as: { kind: 'recorded' }, tokenizer: undefined, template: undefined } as const
  const comparing = compareSides({ ...recorded, trajectory: first }, { ...recorded, trajectory: second })
  if (!comparing.ok) throw new Error(comparing.why)
  const [left, right] = ['a', 'b'].map((key): Side => ({ key, as: { kind: 'recorded' } })) as [Side, Side]
  const samples: ShownPair = { left, right, compared: comparing.value }

  test('shows their rewards, outcomes and first divergence in the summary, and no costs of drift', () => {
    render(<Strip shown={samples} />)
    const strip = screen.getByRole('region', { name: 'Summary' })
    expect(within(strip).getByText('rewards, left · right').previousSibling?.textContent).toBe('0 · 1')
    expect(within(strip).getByText('outcomes, left · right').previousSibling?.textContent).toBe('end_turn · end_turn')
    expect(within(strip).getByText('first divergence at token · response 1')).toBeTruthy()
    expect(strip.textContent).not.toMatch(/drift|cache|row|severity|importance/)
  })

  test('shows no severity and no advice in the card, and titles for differences', () => {
    render(<DriftCard pair={samples} drift={0} state="pinned" linksOf={() => null} />)
    const card = screen.getByRole('region', { name: 'Difference' })
    expect(card.textContent).toMatch(/^Difference 1 of/)
    expect(card.textContent).not.toMatch(/TITO|severity|pipeline|template/)
    cleanup()
    const none = () => {}
    render(
      <SidesBar
        left={{ side: left, trajectory: first }}
        right={{ side: right, trajectory: second }}
        onSide={none}
        onChoose={none}
        onReconstruction={none}
        onBaseline={none}
        onSwap={none}
      />,
    )
    expect(screen.getByRole('button', { name: /Sample 1 · reward 0$/ })).toBeTruthy()
    expect(screen.getByRole('button', { name: /Sample 4 · reward 1$/ })).toBeTruthy()
  })

  test('is one of two different trajectories, neither made from the other nor a chat baseline of its run', () => {
    const known = (side: Side) => ({ side, trajectory: first })
    expect(areTwoSamples(known(left), known(right))).toBe(true)
    expect(areTwoSamples(known(left), known(left))).toBe(false)
    expect(areTwoSamples(known(left), known({ key: 'b', as: { kind: 'text' } }))).toBe(false)
    const provenance = { kind: 'rollout', application: 'rollscope', endpoint: 'chat' } as const
    expect(areTwoSamples(known(left), { side: right, trajectory: { ...first, provenance } })).toBe(false)
    const forkedFrom = { trajectory: left.key, token: 3, kind: 'rendered_again' } as const
    const again = { side: right, trajectory: { ...first, forkedFrom } }
    expect([areTwoSamples(known(left), again), areTwoSamples(again, known(left))]).toEqual([false, false])
    const sampled = {
      ...again,
      trajectory: { ...first, forkedFrom: { ...forkedFrom, kind: 'sampled_again' as const } },
    }
    expect(areTwoSamples(known(left), sampled)).toBe(true)
  })
})

test('Caveats names the side of each caveat, and is empty without caveats', () => {
  const { container } = render(<Caveats compared={pair.compared} />)
  expect(container.textContent).toBe('')
  const right = { ...pair.compared.right, caveats: ['the clock of the template'] }
  render(<Caveats compared={{ ...pair.compared, right }} />)
  expect(screen.getByText('Caveats: 1')).toBeTruthy()
  expect(screen.getByText('right:')).toBeTruthy()
})

test('a side keeps its chosen tokenizer when another kind of side is chosen', async () => {
  const sides: Side[] = []
  const side: Side = { key: 'k', as: { kind: 'raw', tokenizer: 'a/b', template: { kind: 'lab' } } }
  render(
    <SidesBar
      left={{ side, trajectory: drifting }}
      right={{ side: undefined, trajectory: undefined }}
      onSide={(_, changed) => sides.push(changed)}
      onChoose={() => {}}
      onReconstruction={() => {}}
      onBaseline={() => {}}
      onSwap={() => {}}
    />,
  )
  const kind = screen.getByLabelText('Left side shown as')
  for (const value of ['structured', 'text', 'recorded']) await userEvent.selectOptions(kind, value)
  expect(sides.map(({ as }) => as)).toEqual([
    { kind: 'structured', tokenizer: 'a/b', template: { kind: 'lab' } },
    { kind: 'text', tokenizer: 'a/b' },
    { kind: 'recorded' },
  ])
  expect(screen.getByText('tokenizer a/b · template of the template lab')).toBeTruthy()
  expect(screen.getByRole('button', { name: /^Right side: ?Choose a trajectory…$/ }).lastChild?.textContent).toBe(
    'Choose a trajectory…',
  )
})

test('The drift report names the kinds of files that it reads, and the file chooser hides none of them', () => {
  render(<CorpusStart onFiles={vi.fn()} onLibrary={vi.fn()} />)
  expect(screen.getByText(/JSON, JSON lines, Parquet, Arrow, or an archive/)).toBeTruthy()
  expect(screen.getByLabelText('Files of trajectories').getAttribute('accept')).toBe('')
})
