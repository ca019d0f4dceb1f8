/** The page of a group with scripted answers: what it shows, its keys, its brush and its folds. */
import { QueryClient } from '@tanstack/react-query'
import { act, fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Plot } from '#components/inspector/charts/plot.tsx'
import { ShellContext } from '#components/shell/shell-actions.ts'
import { defineLayout } from '#components/token-view/test-layout.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { withQueries } from '#testing/with-queries.tsx'
import type { GroupPageView, useGroupAddress } from './address.ts'
import { ADVANTAGE } from './colour.ts'
import { GroupPage } from './group-page.tsx'
import { clearGroup, exampleGroup, groupOf, type TestGroup, wordTrajectory } from './test-group.ts'
import { NO_MODES } from './tree/folds.ts'

const go = vi.hoisted(() => vi.fn(async (_href: string) => {}))
vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
  useNavigation: () => ({ go, takeFocus: () => false }),
}))

/** jsdom has no canvas: a point of a plot is a button, and its words follow. */
vi.mock('#components/inspector/charts/plot.tsx', () => ({
  Plot: ({ label, points, chosen, onPoint, onChoose, onOpen }: PlotProps) => (
    <div role="img" aria-label={label}>
      {Array.from(points.x.entries(), ([index, x]) => (
        <button
          key={`point ${index}`}
          type="button"
          aria-pressed={index === chosen}
          onMouseEnter={() => onPoint(index)}
          onClick={() => onChoose(index)}
          onDoubleClick={() => onOpen(index)}
        >
          {`${x}: ${points.y[index]?.toFixed(2)}`}
        </button>
      ))}
    </div>
  ),
}))

/** jsdom has no layout, so the tree gets a height of 900 pixels and a width of 800. */
beforeAll(() => defineLayout({ height: 900, width: 800 }))

type PlotProps = Parameters<typeof Plot>[0]

const START: GroupPageView = {
  tab: 'tree',
  formula: 'mean-std',
  colour: ADVANTAGE,
  limit: undefined,
  pinned: undefined,
  modes: NO_MODES,
  brush: undefined,
}

function Screen({ group, start }: { readonly group: TestGroup; readonly start: Partial<GroupPageView> }) {
  const [view, setView] = useState<GroupPageView>({ ...START, ...start })
  const address: ReturnType<typeof useGroupAddress> = {
    keys: [],
    view,
    setView: async (change) => {
      setView((known) => ({ ...known, ...change }))
      return new URLSearchParams()
    },
    link: () => 'http://localhost/group/group',
  }
  return (
    <>
      <GroupPage forest={group.forest} title="How many?" groupId="41-07" address={address} exportFile={() => {}} />
      <output data-testid="view">{JSON.stringify({ ...view, modes: [...view.modes] })}</output>
    </>
  )
}

async function show(group: TestGroup = exampleGroup(), start: Partial<GroupPageView> = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  for (const trajectory of group.trajectories)
    client.setQueryData(trajectoryOptions(trajectory.id).queryKey, trajectory)
  const nothing = () => {}
  await act(async () => {
    render(
      <ShellContext
        value={{ openFile: nothing, exportFile: undefined, showKeys: nothing, showHelp: nothing, onTokens: nothing }}
      >
        <Screen group={group} start={start} />
      </ShellContext>,
      { wrapper: withQueries(client) },
    )
  })
  return { grid: screen.getByRole('grid', { name: 'Tree of the samples' }), user: userEvent.setup() }
}

const press = (...keys: string[]) => {
  for (const key of keys) fireEvent.keyDown(document.body, { key })
}
const pressIn = (grid: HTMLElement, ...keys: string[]) => {
  for (const key of keys) fireEvent.keyDown(grid, { key })
}
const view = () => JSON.parse(screen.getByTestId('view').textContent ?? '')
const pinned = () => view().pinned && [view().pinned.sample + 1, view().pinned.token]
const said = () => document.querySelector('[aria-live]')?.textContent ?? ''
const visible = (grid: HTMLElement, selector: string) =>
  [...grid.querySelectorAll<HTMLElement>(selector)].filter((element) => !element.closest('[hidden]'))
const heads = (grid: HTMLElement) =>
  visible(grid, '.branch-head')
    .toSorted((a, b) => topOf(a) - topOf(b))
    .map((head) => head.querySelector('.branch-count')?.textContent)
const topOf = ({ style }: HTMLElement) => Number(/translateY\((.*)px/.exec(style.transform)?.[1])
const texts = (grid: HTMLElement) =>
  visible(grid, '.token-text')
    .toSorted((a, b) => topOf(a.parentElement as HTMLElement) - topOf(b.parentElement as HTMLElement))
    .map(({ textContent }) => textContent)

describe('The page of a group', () => {
  test('answers with the decisive token, its branches and their intervals', async () => {
    await show(clearGroup())
    const line = document.querySelector('[data-decisive]')
    expect(line?.textContent).toMatch(
      /Decisive token 5findmean reward1\.00\[0\.4–1\]againstls0\.00\[0–0\.6\]4 and 4 samplesDifference 1\.00/,
    )
    expect(line?.textContent).toMatch(/chance 2\.9 % over 1 compared split/)
  })

  test('names no decisive token if chance gives such a difference in more than 5 % of all assignments, and shows the largest one', async () => {
    const { user } = await show()
    const line = document.querySelector('[data-decisive]')
    expect(line?.textContent).toMatch(/^No token is decisiveDifferences may be chance/)
    expect(line?.textContent).toMatch(/Largest difference in mean reward 0\.76 .*chance 6\.1 % over 2 compared splits/)
    expect(line?.textContent).not.toMatch(/find|ls|token 5/)
    await user.click(screen.getByRole('button', { name: 'Show the largest' }))
    expect(pinned()).toEqual([2, 5])
    expect(screen.getByText('largest difference, may be chance')).toBeTruthy()
  })

  test('says “so far” while samples are running', async () => {
    await show(clearGroup({ isRunning: true }))
    expect(document.querySelector('[data-decisive]')?.textContent).toMatch(/^Decisive token 5 so far/)
  })

  test('draws the shared tokens once, then branches by their number of samples, and folds those with a low reward', async () => {
    const { grid } = await show()
    expect(texts(grid)).toEqual([
      'howmany?',
      'Ilist',
      'find',
      ' src',
      '13<end>',
      ' files13<end>',
      ' .',
      '13<end>',
      '22',
      'ls',
    ])
    expect(heads(grid)).toEqual(['5 of 8', '3 of 8', '2 of 8', '1 of 8', '2 of 8', '1 of 8', '1 of 8', '3 of 8'])
    expect(
      visible(grid, '.branch-hidden')
        .map(({ textContent }) => textContent)
        .toSorted(),
    ).toEqual(['▸ 1 sample · 2 tokens · end_turn', '▸ 3 samples, 3 branches folded · 3 to 4 tokens each · end_turn'])
  })

  test('lists the samples with rewards, advantages and labels, and the facts of the group', async () => {
    await show()
    const list = screen.getByRole('region', { name: 'Samples' })
    const rows = within(list)
      .getAllByRole('row')
      .map(({ textContent }) => textContent)
    expect(rows[3]).toBe('21+0.989')
    expect(rows[4]).toContain('identical to 5')
    expect(screen.getByText('0.575 ± 0.433')).toBeTruthy()
    expect(screen.getByText('5 of 8–10 tokens')).toBeTruthy()
    expect(screen.getByText('7 of 8')).toBeTruthy()
    expect(screen.getByText('pass@4').closest('dt')?.nextSibling?.textContent).toBe('92.9 %')
    expect(screen.getByRole('heading', { name: 'How many?' })).toBeTruthy()
    expect(screen.getByText('41-07').className).toContain('select-all')
  })

  test('dims the samples outside the brush, whose handles move by arrow keys', async () => {
    const { grid, user } = await show()
    const low = screen.getByRole('slider', { name: 'Lowest selected reward' })
    low.focus()
    await user.keyboard('{ArrowRight}{ArrowRight}{ArrowRight}')
    expect(view().brush).toEqual({ by: 'reward', low: 0.3, high: 1 })
    expect(screen.getByText('5 of 8 samples selected.')).toBeTruthy()
    const dim = document.querySelectorAll('[data-list-sample][data-dim="true"]')
    expect([...dim].map((row) => row.getAttribute('data-list-sample'))).toEqual(['2', '6', '7'])
    expect(visible(grid, '.branch-head[data-dim="true"]')).toHaveLength(1)
    await user.keyboard('{Home}')
    expect(view().brush).toBeUndefined()
    await user.click(screen.getByRole('button', { name: 'length' }))
    expect(screen.getByRole('slider', { name: 'Highest selected length' })).toBeTruthy()
  })

  test('selects the samples under a drag over the histogram, in either direction', async () => {
    await show()
    const bars = screen.getByRole('img', { name: /^Histogram of rewards/ }).parentElement as HTMLElement
    vi.spyOn(bars, 'getBoundingClientRect').mockReturnValue({ ...bars.getBoundingClientRect(), left: 0, width: 100 })
    for (const [from, to] of [
      [80, 30],
      [30, 80],
    ] as const) {
      fireEvent.pointerDown(bars, { button: 0, clientX: from })
      fireEvent.pointerMove(bars, { clientX: to })
      fireEvent.pointerUp(bars)
      expect(view().brush).toEqual({ by: 'reward', low: 0.3, high: 0.8 })
    }
  })

  test('shows the path of a sample from the list, and opens the branches before it', async () => {
    const { grid, user } = await show()
    await user.click(screen.getByRole('button', { name: 'Sample 3: show it in the tree' }))
    expect(pinned()).toEqual([3, 6])
    expect(heads(grid)).toHaveLength(11)
    expect(said()).toMatch(/^branch with 1 of 8 samples, mean reward 0\.05.*token 6, " src"/)
  })
})

describe('The keys of the page', () => {
  test('lead to the decisive token, along splits, and fold', async () => {
    const { grid } = await show()
    press('d')
    expect(pinned()).toEqual([2, 5])
    expect(said()).toMatch(/^branch with 5 of 8 samples, mean reward 0\.86/)
    press(']')
    expect(pinned()).toEqual([2, 6])
    press('[')
    expect(pinned()).toEqual([2, 5])
    press('z')
    expect(heads(grid)).toEqual(['5 of 8', '3 of 8'])
    press('z')
    expect(heads(grid)).toHaveLength(8)
    press('n')
    expect(pinned()).toEqual([2, 6])
    press('n')
    expect(pinned()).toEqual([2, 5])
    press('Escape')
    expect(pinned()).toBeUndefined()
  })

  test('walk token by token into the branch with most samples, and from branch to branch', async () => {
    const { grid } = await show()
    pressIn(grid, 'j')
    expect(pinned()).toEqual([2, 0])
    pressIn(grid, 'j', 'j', 'j', 'j', 'j')
    expect(pinned()).toEqual([2, 5])
    pressIn(grid, 'k')
    expect(pinned()).toEqual([2, 4])
    pressIn(grid, 'J', 'J', 'J')
    expect(pinned()).toEqual([2, 7])
    pressIn(grid, 'K')
    expect(pinned()).toEqual([2, 6])
    pressIn(grid, 'G')
    expect(view().pinned.token).toBe(5)
    expect(view().pinned.sample).toBe(2)
    pressIn(grid, 'ArrowUp')
    expect(view().pinned.token).toBe(7)
    pressIn(grid, 'g')
    expect(view().pinned.token).toBe(0)
  })

  test('go to the largest values of a number, and say so where a colour has no order', async () => {
    await show(undefined, { colour: 'logprob' })
    press('n')
    expect(pinned()).toEqual([2, 8])
    press('n')
    expect(pinned()).toEqual([2, 7])
    press('m', 'n')
    expect(screen.getByText(/This colour has no order/)).toBeTruthy()
  })
})

describe('The card of the group page', () => {
  test('shows each branch with its samples at a split, and the link to branch there', async () => {
    const { user } = await show()
    press('d')
    const card = await screen.findByRole('region', { name: 'Branches at this token' })
    expect(
      within(card).getByRole('img', { name: /^ls: mean reward 0\.10 .* rewards 0\.05, 0\.25, 0\.00/ }),
    ).toBeTruthy()
    expect(
      within(card)
        .getAllByRole('row')
        .map(({ textContent }) => textContent),
    ).toEqual(['find74.1 %12456', 'ls74.1 %378'])
    expect(screen.getByText('largest difference, may be chance')).toBeTruthy()
    const link = screen.getByRole('link', { name: 'Branch sample 2 at token 5' })
    expect(link.getAttribute('href')).toBe('/t/k2?at=5')
    await user.click(within(card).getByRole('button', { name: 'Sample 7: show it in the tree' }))
    expect(pinned()).toEqual([7, 6])
    press('b')
    expect(go).toHaveBeenLastCalledWith('/t/k7?at=6')
  })

  test('compares the two branches of the decisive token', async () => {
    const { user } = await show()
    await user.click(screen.getByRole('button', { name: 'Compare the branches' }))
    expect(go.mock.lastCall?.[0]).toMatch(/^\/compare\?left=k2.*right=k3/)
  })
})

describe('A group without a decisive token', () => {
  test('says that all rewards are equal', async () => {
    await show(groupOf([wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'how', 'list')], [1, 1]))
    expect(document.querySelector('[data-note="equal-rewards"]')?.textContent).toMatch(/All rewards are 1/)
    press('d')
    expect(screen.getByText(/No branches can be compared/)).toBeTruthy()
  })

  test('says that the samples share only the prompt, or nothing', async () => {
    await show(groupOf([wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'how', 'list')], [1, 0]))
    expect(document.querySelector('[data-note="prompt-only"]')?.textContent).toMatch(/share only the prompt/)
  })

  test('draws each beginning as a branch of its own if there is no common prefix', async () => {
    const { grid } = await show(groupOf([wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'many', 'I')], [1, 0]))
    expect(heads(grid)).toEqual(['1 of 2', '1 of 2'])
    expect(document.querySelector('[data-note="no-common-prefix"]')).toBeTruthy()
  })

  test('keeps a sample that cannot be read in the list with its finding', async () => {
    const { forest, trajectories } = groupOf(
      [wordTrajectory('a', 'how', 'I'), wordTrajectory('b', 'how', 'list'), wordTrajectory('c', '', '')],
      [1, 0, null],
    )
    await show({ forest, trajectories })
    const row = document.querySelector('[data-list-sample="2"]')
    expect(row?.textContent).toContain('no tokens')
    expect(row?.querySelector('button')?.disabled).toBe(true)
  })
})

describe('The tabs of the group page', () => {
  const rowsOf = (table: HTMLElement) =>
    within(table)
      .getAllByRole('row')
      .slice(1)
      .map((row) => [...row.children].slice(0, 3).map(({ textContent }) => textContent))

  test('list the samples in a table, which sorts by each column, leaves out what the brush does, and leads to the tree', async () => {
    const { user } = await show(exampleGroup(), { brush: { by: 'reward', low: 0, high: 0.5 } })
    await user.click(screen.getByRole('tab', { name: 'Table' }))
    const table = await screen.findByRole('table', { name: 'Samples of the group' })
    expect(rowsOf(table)).toEqual([
      ['3', '0.05', '−1.21'],
      ['6', '0.5', '−0.17'],
      ['7', '0.25', '−0.75'],
      ['8', '0', '−1.33'],
    ])
    await user.click(within(table).getByRole('button', { name: 'reward' }))
    expect(rowsOf(table).map(([sample]) => sample)).toEqual(['6', '7', '3', '8'])
    await user.click(within(table).getByRole('button', { name: 'Sample 7: show it in the tree' }))
    expect(view().tab).toBe('tree')
    expect(pinned()).toEqual([7, 6])
  })

  test('draw the difference in mean reward at each split, whose points pin their token and show it in the tree', async () => {
    const { user } = await show(exampleGroup(), { tab: 'charts' })
    const section = await screen.findByRole('region', { name: 'Difference in mean reward' })
    const [first] = within(section).getAllByRole('button', { name: '5: 0.76' })
    await user.hover(first as HTMLElement)
    expect(section.textContent).toContain('token 5: difference 0.76, find 0.86 (5), ls 0.10 (3)')
    await user.click(first as HTMLElement)
    expect([view().tab, pinned()]).toEqual(['charts', [2, 5]])
    expect(await screen.findByRole('region', { name: 'Branches at this token' })).toBeTruthy()
    await user.dblClick(first as HTMLElement)
    expect(view().tab).toBe('tree')
  })

  test('draw the reward of each sample by its length, and a point shows its path', async () => {
    const { user } = await show(exampleGroup(), { tab: 'charts' })
    const section = await screen.findByRole('region', { name: 'Reward by length' })
    await user.click(within(section).getByRole('button', { name: '8: 0.00' }))
    expect([view().tab, pinned()?.[0]]).toEqual(['tree', 8])
  })

  test('mark the sample whose token is pinned among the rewards, also where other samples have the token', async () => {
    await show(exampleGroup(), { tab: 'charts', pinned: { sample: 7, token: 5 } })
    const section = await screen.findByRole('region', { name: 'Reward by length' })
    const marked = within(section).getAllByRole('button', { pressed: true })
    expect(marked.map(({ textContent }) => textContent)).toEqual(['8: 0.00'])
  })

  test('say what a group without rewards cannot show', async () => {
    const { trajectories } = exampleGroup()
    await show(groupOf(trajectories, []), { tab: 'charts' })
    expect(await screen.findByText(/no means can be compared/)).toBeTruthy()
    expect(screen.getByText('No sample has a reward.', { selector: '.text-dim' })).toBeTruthy()
  })

  test('return to the tree when a key pins a token', async () => {
    await show(exampleGroup(), { tab: 'table' })
    press('d')
    expect([view().tab, pinned()]).toEqual(['tree', [2, 5]])
  })
})
