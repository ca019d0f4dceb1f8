import { act, fireEvent, render, screen, within } from '@testing-library/react'
import { createRef, type Ref, useState } from 'react'
import { beforeAll, expect, test, vi } from 'vitest'
import { defineLayout } from '#components/token-view/test-layout.ts'
import type { ComparedSides } from '#lib/analysis/compare/compare-sides.ts'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { CompareView } from '../view.ts'
import { Lanes, type LanesControl } from './lanes.tsx'

/** jsdom has no layout, so the lanes get a height of 400 pixels and a width of 600. */
beforeAll(() => {
  vi.stubGlobal('matchMedia', () => ({ addEventListener() {}, removeEventListener() {} }))
  defineLayout({ height: 400, width: 600 })
})

const WORDS = ['a', 'b', 'ab', 'c', '\n', '<think>', 'x']
const ids = (text: string): number[] => text.split(' ').map((word) => WORDS.indexOf(word === '|' ? '\n' : word))
const prompt = (text: string): Segment => ({ kind: 'prompt', ids: ids(text), messages: [] })
const response = (text: string): Segment => ({ kind: 'response', ids: ids(text), thinks: [], toolCalls: [] })

const trajectory = (...segments: Segment[]): TrajectoryView => ({
  ...sampleTrajectory,
  model: { ...sampleTrajectory.model, tokenizer: { name: 'words', specialIds: [WORDS.indexOf('<think>')] } },
  vocab: Object.fromEntries(WORDS.map((word, id) => [id, word])),
  segments,
})

function compared(left: TrajectoryView, right: TrajectoryView): ComparedSides {
  const shown = (one: TrajectoryView) => ({ trajectory: one, caveats: [] })
  return { left: shown(left), right: shown(right), comparison: compareTrajectories(left, right) }
}

const LONG = Array(20).fill('a').join(' ')
const drifting = compared(
  trajectory(prompt(LONG), response(`c a b c | ${LONG} | c x c`)),
  trajectory(prompt(LONG), response(`c ab c | ${LONG} | c <think> c`)),
)

interface ScreenProps {
  readonly of: ComparedSides
  readonly start?: Partial<CompareView>
  readonly isOneSide?: boolean
  readonly control?: Ref<LanesControl>
}

function Screen({ of, start = {}, isOneSide = false, control = null }: ScreenProps) {
  const [view, setView] = useState<CompareView>({
    drift: undefined,
    onlyDifferences: false,
    isUnified: false,
    colour: 'mask',
    ...start,
  })
  const left = { key: 'k', as: { kind: 'recorded' as const } }
  return (
    <>
      <Lanes
        pair={{ left, right: isOneSide ? left : { key: 'k', as: { kind: 'text' } }, compared: of }}
        control={control}
        view={view}
        onView={(change) => setView((known) => ({ ...known, ...change }))}
        onPoint={() => {}}
        say={() => {}}
      />
      <output>{view.drift ?? 'none'}</output>
    </>
  )
}

const show = (of: ComparedSides, start?: Partial<CompareView>) => {
  render(<Screen of={of} {...(start && { start })} />)
  return screen.getByRole('grid')
}
const press = (grid: HTMLElement, ...keys: string[]) => {
  for (const key of keys) fireEvent.keyDown(grid, { key })
}
const said = () => document.querySelector('[aria-live]')?.textContent ?? ''
const pinned = () => screen.getByRole('status').textContent
const lanes = () => screen.getAllByRole('rowgroup')
const rowsIn = (lane: HTMLElement | undefined) =>
  lane
    ? within(lane)
        .getAllByRole('gridcell')
        .filter((cell) => cell.matches('.token-text, .lane-fold-text') && !cell.closest('[hidden]'))
        .map((cell) => cell.textContent)
    : []
const sorted = (texts: readonly (string | null)[]) => [...texts].sort()

test('the lanes show both sides beside each other with equal tokens folded', () => {
  const grid = show(drifting)
  expect(grid.getAttribute('data-idle')).toBe('true')
  const [left, right] = lanes()
  expect(sorted(rowsIn(left))).toEqual(
    sorted(['▸ 20 identical tokens · prompt', 'cabc ', '▸ 21 identical tokens · response', 'cxc']),
  )
  expect(sorted(rowsIn(right))).toEqual(
    sorted(['▸ 20 identical tokens · prompt', 'cabc ', '▸ 21 identical tokens · response', 'c<think>c']),
  )
})

test('keys in the lanes move within a side, to the other side and over folds, and announce the position', () => {
  const grid = show(drifting)
  press(grid, 'j')
  expect(said()).toContain('20 identical tokens, folded')
  press(grid, 'j', 'j')
  expect(said()).toMatch(/^left: token 21, "a"/)
  expect(said()).toMatch(/drift 1 of 2: split.*1 token on the right/)
  const active = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '')
  expect(active?.dataset.index).toBe('21')
  press(grid, 'o')
  expect(said()).toMatch(/^right: token 21, "ab"/)
  press(grid, 'j')
  expect(said()).toMatch(/^right: token 22, "c"/)
  press(grid, 'o')
  expect(said()).toMatch(/^left: token 23, "c"/)
  press(grid, 'G')
  expect(said()).toMatch(/^left: token 48, "c"/)
  press(grid, 'ArrowUp')
  expect(said()).toContain('21 identical tokens, folded')
  press(grid, 'k')
  expect(said()).toMatch(/^left: token 24, "\\n"/)
})

test('Enter in the lanes unfolds, pins a drift span and folds again; Escape clears the choice', () => {
  const grid = show(drifting)
  const rows = () => Number(grid.getAttribute('aria-rowcount'))
  const folded = rows()
  press(grid, 'g', 'Enter')
  expect(said()).toMatch(/^left: token 0, "a"/)
  expect(rows()).toBe(folded)
  press(grid, 'Enter')
  expect(said()).toContain('folded')
  press(grid, 'j', 'j', 'Enter')
  expect(pinned()).toBe('0')
  press(grid, 'Escape')
  expect([pinned(), said()]).toEqual(['none', ''])
  press(grid, 'Z')
  expect(rowsIn(lanes()[0]).some((text) => text?.includes('identical'))).toBe(false)
  press(grid, 'Z')
  expect(rowsIn(lanes()[0]).some((text) => text?.includes('identical'))).toBe(true)
})

test('a drift span that is pinned outside the lanes replaces the chosen tokens', () => {
  const grid = show(drifting, { drift: 1 })
  expect(said()).toMatch(/drift 2 of 2/)
  const at = Number(/token (\d+)/.exec(said())?.[1])
  press(grid, 'j')
  expect(said()).toContain(`token ${at + 1},`)
  fireEvent.click(grid.querySelector('.lane-note') as HTMLElement)
  expect(pinned()).toBe('0')
  expect(said()).toMatch(/drift 1 of 2/)
})

test('a click on a fold in the lanes unfolds it, and with Shift all folds', () => {
  const grid = show(drifting)
  const fold = () => within(grid).getAllByText(/identical tokens/)
  const before = fold().length
  fireEvent.click(fold()[0] as HTMLElement)
  expect(fold().filter((one) => !one.closest('[hidden]'))).toHaveLength(before - 2)
  act(() => {
    fireEvent.click(grid.querySelector('.lane-unfold:not([hidden])') as HTMLElement)
  })
  expect(fold().filter((one) => !one.closest('[hidden]'))).toHaveLength(before)
  fireEvent.click(fold()[0] as HTMLElement, { shiftKey: true })
  expect(
    within(grid)
      .queryAllByText(/identical tokens/)
      .filter((one) => !one.closest('[hidden]')),
  ).toHaveLength(0)
})

test('the unified view marks the lines of both sides with signs, and rows name their side', () => {
  show(drifting, { isUnified: true })
  const [column] = lanes()
  expect(lanes()).toHaveLength(1)
  expect(rowsIn(column)).toEqual(expect.arrayContaining(['ab', 'x', '<think>']))
  const signs = [...document.querySelectorAll('.lane-run:not([hidden]) .lane-sign')].map((sign) => sign.textContent)
  expect(signs.filter(Boolean)).toEqual(expect.arrayContaining(['−', '+']))
  expect(within(column as HTMLElement).getAllByRole('row', { name: 'left: x' }).length).toBeGreaterThan(0)
  expect(within(column as HTMLElement).getAllByRole('row', { name: 'right: <think>' }).length).toBeGreaterThan(0)
})

test('the lanes copy the chosen tokens as exact text', () => {
  const grid = show(drifting, { drift: 0 })
  grid.focus()
  const copy = new Event('copy', { bubbles: true, cancelable: true })
  const setData = vi.fn()
  Object.assign(copy, { clipboardData: { setData } })
  document.dispatchEvent(copy)
  expect(setData).toHaveBeenCalledWith('text/plain', 'a')
})

test('one side twice is shown unfolded, and the page around the lanes can choose a token in them, also in a fold', () => {
  const same = trajectory(prompt(LONG))
  render(<Screen of={compared(same, same)} isOneSide />)
  expect(rowsIn(lanes()[0]).join('')).toContain('aaaa')
  const control = createRef<LanesControl>()
  render(<Screen of={compared(same, same)} control={control} />)
  expect(rowsIn(lanes()[2])).toEqual(['▸ 20 identical tokens · prompt'])
  act(() => control.current?.choose({ side: 'left', token: 7 }))
  expect(rowsIn(lanes()[2]).join('')).toContain('aaaa')
  const announced = [...document.querySelectorAll('[aria-live]')].map(({ textContent }) => textContent)
  expect(announced).toContainEqual(expect.stringMatching(/^left: token 7, /))
})

test('the overview of all drift has its place before the first rows, so that their lines keep their width', () => {
  const observe = vi.spyOn(ResizeObserver.prototype, 'observe').mockReturnValue()
  const grid = show(drifting)
  expect([grid.ariaRowCount, screen.getByTitle(/^All drift/).className]).toEqual([
    '0',
    expect.stringContaining('w-3.5'),
  ])
  observe.mockRestore()
})

test('the lanes say when two sides have no drift, or no tokens', () => {
  const same = trajectory(prompt(LONG))
  show(compared(same, same))
  expect(screen.getByText('No drift: both sides are the same 20 tokens.')).toBeDefined()
  expect(rowsIn(lanes()[0])).toEqual(['▸ 20 identical tokens · prompt'])
  const nothing = trajectory()
  render(<Screen of={compared(nothing, nothing)} />)
  expect(screen.getByText('There are no tokens on either side.')).toBeDefined()
})
