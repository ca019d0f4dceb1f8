import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Colouring } from '../colour/colouring.ts'
import { Legend } from '../colour/legend.tsx'
import { DEFAULT_GRID_OPTIONS, NO_FOLDS } from '../grid-options.ts'
import { type LegendSource, legendOf } from './legend-entries.ts'
import { TokenLegend } from './token-legend.tsx'

const [prompt] = sample.segments
/** A prompt without special tokens, calls or think blocks. */
const plain = {
  ...sample,
  vocab: { '3': 'hi' },
  segments: [{ ...prompt, ids: [3], logprobs: undefined }],
} as TrajectoryView

const withImage = {
  ...plain,
  vocab: { '3': '<|image_pad|>' },
  model: { ...sample.model, tokenizer: { name: 't', specialIds: [3] } },
} as TrajectoryView

const withForced = {
  ...plain,
  segments: [
    { kind: 'response', ids: [3], mask: [0], forced: [{ start: 0, end: 1, as: 'ids' }], thinks: [], toolCalls: [] },
  ],
} as TrajectoryView

const sourceOf = (change: Partial<LegendSource> = {}): LegendSource => ({
  view: 'inspector',
  trajectories: [sample],
  markKinds: [],
  isSelected: false,
  options: DEFAULT_GRID_OPTIONS,
  folds: NO_FOLDS,
  ...change,
})

const shownIn = (change: Partial<LegendSource>) =>
  legendOf(sourceOf(change)).present.flatMap(({ entries }) => entries.map(({ title }) => title))

test('the legend lists first what the token view shows now', () => {
  expect(shownIn({})).toEqual(
    expect.arrayContaining([
      'Trained token',
      'Context',
      'Special token',
      'Split character',
      'Think block',
      'Tool call',
    ]),
  )
  expect(shownIn({ trajectories: [plain] })).toEqual([
    'Context',
    'Spaces and line ends',
    'Pointed at',
    'Segment',
    'Minimap',
  ])
})

test.each<[string, Partial<LegendSource>, string]>([
  ['hits', { markKinds: ['hit'] }, 'Hit'],
  ['drift', { markKinds: ['drift'] }, 'Drift'],
  ['a selection', { isSelected: true }, 'Selected'],
  ['boundaries', { options: { ...DEFAULT_GRID_OPTIONS, showsBoundaries: true } }, 'Token boundary'],
  ['an image', { trajectories: [withImage] }, 'Image'],
  ['an inserted token', { trajectories: [withForced] }, 'Forced token'],
  ['a folded segment', { folds: { segments: new Set([1]), thinks: new Set() } }, 'Folded'],
])('the legend explains %s only when the view shows it', (_name, change, title) => {
  expect(shownIn({})).not.toContain(title)
  expect(shownIn(change)).toContain(title)
})

test('the legend explains a character without a shape if a token has one', () => {
  const hidden = { ...sample, vocab: { ...sample.vocab, '3': 'hi\u202E' } } as TrajectoryView
  expect(shownIn({})).not.toContain('Character without a shape')
  expect(shownIn({ trajectories: [hidden] })).toContain('Character without a shape')
})

test('the legend of a view leaves out what the view never has', () => {
  const titlesOf = (view: LegendSource['view']) => {
    const { present, absent } = legendOf(sourceOf({ view }))
    return [...present.flatMap(({ entries }) => entries), ...absent].map(({ title }) => title)
  }
  for (const title of ['Minimap', 'Cut', 'Nothing here']) expect(titlesOf('run')).not.toContain(title)
  expect(titlesOf('run')).toEqual(expect.arrayContaining(['Hit', 'Folded']))
  expect(titlesOf('inspector')).not.toContain('Nothing here')
  expect(titlesOf('lanes')).toEqual(expect.arrayContaining(['Nothing here', 'Drift', "The other side's token"]))
})

test('the legend draws and names every entry, and the absent ones can be unfolded', async () => {
  render(<TokenLegend source={sourceOf()} />)
  const special = screen.getByText('Special token', { selector: 'dt > *' }).closest('dt') as HTMLElement
  expect(special.querySelector<HTMLElement>('.token-text')?.style.backgroundImage).toContain('var(--special-edge)')
  const { absent } = legendOf(sourceOf())
  const more = screen.getByRole('group')
  await userEvent.click(within(more).getByText(`Not shown now: ${absent.length} more`))
  expect(within(more).getAllByRole('term')).toHaveLength(absent.length)
})

test('The legend of more than eight categories lists the others when it is pressed', async () => {
  const categories = Array.from({ length: 10 }, (_, index) => ({ label: `call ${index}`, colour: 'red' }))
  const mode = { kind: 'category', name: 'calls', explanation: '', categories }
  const scale = { kind: 'category', counts: categories.map(() => 2), unknown: 0 }
  render(<Legend colouring={{ mode, scale } as unknown as Colouring} onLimit={() => {}} />)
  expect(screen.queryByText('call 9')).toBeNull()
  await userEvent.setup().click(screen.getByRole('button', { name: 'and 2 more' }))
  expect(screen.getByText('call 9')).toBeDefined()
  expect(screen.getByRole('button', { name: 'fewer' }).getAttribute('aria-expanded')).toBe('true')
})
