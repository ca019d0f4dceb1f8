/** The strip, the list, the card and the sides’ choosers, on a real drift. */
import { readFileSync } from 'node:fs'
import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, describe, expect, test } from 'vitest'
import { compareSides } from '#lib/compare/compare-sides.ts'
import type { Side } from '#lib/compare/side.ts'
import { decode } from '#lib/core/codec.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { loadTokenizerFiles } from '#lib/tokenizer-files/tokenizer-files.ts'
import { Doubts } from './doubts.tsx'
import { DriftCard } from './drift-card.tsx'
import { DriftList } from './drift-list.tsx'
import { type DriftFilter, NO_FILTER } from './drift-steps.ts'
import { SidesBar } from './sides-bar.tsx'
import { SummaryStrip } from './summary-strip.tsx'
import type { CompareView, ShownPair } from './view.ts'

afterEach(cleanup)

const model = (file: string) => readFileSync(`models/tiny-qwen3/${file}`, 'utf8')
const tokenizer = loadTokenizerFiles('built-in', {
  tokenizerJson: model('tokenizer.json'),
  tokenizerConfigJson: model('tokenizer_config.json'),
})
const drifting = ((): Trajectory => {
  const decoded = decode(readFileSync('public/examples/retokenization-drift.json', 'utf8'))
  if (!decoded.ok) throw new Error('the example is readable')
  return decoded.trajectory
})()

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
        weighed={{ meanLogprob: { left: -0.21, right: -0.58 }, minImportanceRatio: 0.62, noiseFloor: undefined }}
      />
    </>
  )
}

describe('the summary', () => {
  test('a kind leads to the next of its kind, and round again', async () => {
    render(<Strip />)
    const split = screen.getByRole('button', { name: '3 split' })
    for (const drift of ['0', '1', '2', '0']) {
      await userEvent.click(split)
      expect(screen.getByRole('status').textContent).toBe(drift)
    }
  })

  test('what was weighed stands in it, as far as it is known', () => {
    render(<Strip />)
    const strip = screen.getByRole('region', { name: 'Summary' })
    expect(within(strip).getByText('−0.21 → −0.58')).toBeTruthy()
    expect(within(strip).getByText('0.62')).toBeTruthy()
    expect(within(strip).queryByText('noise floor')).toBeNull()
  })

  test('no drift is said with how much was compared', () => {
    render(<Strip shown={pairOf({ kind: 'recorded' })} />)
    expect(screen.getByText('No drift')).toBeTruthy()
    expect(screen.getByText('All 307 tokens of the left are the same ids on the right.')).toBeTruthy()
  })
})

function List() {
  const [view, setView] = useState(VIEW)
  const [filter, setFilter] = useState<DriftFilter>(NO_FILTER)
  return (
    <>
      <output>{view.drift}</output>
      <DriftList
        pair={pair}
        view={view}
        onView={(change) => setView({ ...view, ...change })}
        onPoint={() => {}}
        filter={filter}
        onFilter={setFilter}
      />
    </>
  )
}

describe('the list', () => {
  test('the arrows walk it, and stay within it', async () => {
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

  test('a severity that no span has leaves none, and says of how many', async () => {
    render(<List />)
    await userEvent.selectOptions(screen.getByLabelText('Severity'), 'tail')
    expect(within(screen.getByRole('listbox')).queryAllByRole('option')).toEqual([])
    expect(screen.getByText('0 of 3')).toBeTruthy()
  })
})

test('the card has the ids and the bytes of both sides', () => {
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

test('doubts are told with their side, and nothing where there are none', () => {
  const { container } = render(<Doubts compared={pair.compared} />)
  expect(container.textContent).toBe('')
  const right = { ...pair.compared.right, doubts: ['the clock of the template'] }
  render(<Doubts compared={{ ...pair.compared, right }} />)
  expect(screen.getByText(/1 thing$/)).toBeTruthy()
  expect(screen.getByText('right:')).toBeTruthy()
})

test('a side keeps the tokenizer that was chosen for it when it is made otherwise', async () => {
  const sides: Side[] = []
  const side: Side = { key: 'k', as: { kind: 'raw', tokenizer: 'a/b', template: { kind: 'lab' } } }
  render(
    <SidesBar
      left={{ side, trajectory: drifting }}
      right={{ side: undefined, trajectory: undefined }}
      onSide={(_, changed) => sides.push(changed)}
      onChoose={() => {}}
      onMaking={() => {}}
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
  expect(screen.getByRole('button', { name: /^Right side: ?Choose a trajectory …$/ }).lastChild?.textContent).toBe(
    'Choose a trajectory …',
  )
})
