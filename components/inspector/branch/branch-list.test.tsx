import { QueryClient } from '@tanstack/react-query'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import type { Tree } from '#lib/api/forest/tree.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { requestCancel } from '#lib/browser/rollout/cancel.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { BranchList } from './branch-list.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))
vi.mock('#components/export/several-export.tsx', () => ({
  SeveralExport: ({ keys }: { readonly keys: readonly string[] }) => <p>exports {keys.join(' ')}</p>,
}))
vi.mock('#lib/browser/rollout/cancel.ts', () => ({ requestCancel: vi.fn() }))

type Leaf = Tree['leaves'][number]

function leaf(key: string, fork: Leaf['fork'], more: Partial<TrajectorySummary> = {}): Leaf {
  const row = { key, question: 'q', outcomeKind: 'ended', outcome: 'end_turn', reward: null, tokens: 9, group: null }
  return { row: { ...row, ...more } as TrajectorySummary, isValueSample: false, fork }
}
const unchanged = { inserted: null, edited: null, sampled: null } as const
const at = (from: number, token: number): Leaf['fork'] => ({ from, token, kind: 'sampled_again', ...unchanged })
const group = { id: 'g', index: 0 }

function show(leaves: readonly Leaf[], storedKey: string) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const counts = { trees: 1, leaves: leaves.length, splits: 1, tokens: 36, distinctTokens: 20 }
  client.setQueryData(treeOptions(storedKey).queryKey, { leaves: [...leaves], nodes: [], counts, leftOut: 0 } as never)
  render(<BranchList storedKey={storedKey} />, { wrapper: withQueries(client) })
  return { list: screen.getByRole('region', { name: 'Branches' }), user: userEvent.setup() }
}

const LEAVES = [
  leaf('main', null, { reward: 0 }),
  leaf('a', at(0, 7), { group, reward: 1 }),
  leaf('b', at(0, 7), { group, reward: 0.5 }),
  leaf('early', at(0, 3)),
  leaf('twig', at(3, 5)),
]

test('Samples of one request are one line with their mean, smallest and largest reward, and a fork says what it shares with main', () => {
  const { list } = show(LEAVES, 'twig')
  const samples = within(list).getByRole('group')
  expect(samples.textContent).toContain('at 7, × 20.75')
  expect(samples.textContent).toContain('0.5 to 1')
  expect(samples).toHaveProperty('open', false)
  expect(list.textContent).toContain('Same tokens as main up to 2. 36 tokens, 20 distinct')
  expect(within(list).getByRole('link', { current: 'page' }).getAttribute('href')).toBe('/t/twig?at=5')
  expect(within(list).getByRole('link', { name: 'Compare with main' }).getAttribute('href')).toMatch(
    /left=main.+right=twig/,
  )
})

test('Each sample of one request shows from where on it differs from the others, unless a search has found another part', async () => {
  const sampled = (key: string, index: number, text: string | null) =>
    leaf(key, { from: 0, token: 7, kind: 'sampled_again', ...unchanged, sampled: text }, { group: { id: 'g', index } })
  const more = Array.from({ length: 4 }, (_, index) => leaf(`more ${index}`, at(0, 20 + index)))
  const samples = [sampled('a', 0, 'Let me list them.'), sampled('b', 1, 'Let me count them.'), sampled('c', 2, null)]
  const { list, user } = show([leaf('main', null), ...samples, ...more], 'main')
  const texts = () =>
    within(within(list).getByRole('group'))
      .getAllByRole('link', { hidden: true })
      .map((row) => row.querySelector('code')?.textContent)
  expect(texts()).toEqual(['…list them.', '…count them.', undefined])
  await user.type(within(list).getByRole('searchbox'), 'let')
  expect(texts()).toEqual(['Let me list them.', 'Let me count them.'])
})

test('A branch names the text that it inserted and the token that it replaced, with every hidden character', () => {
  const forced = (text: string, instead: string | null): Leaf['fork'] => ({
    from: 0,
    token: 1211,
    kind: 'alternative',
    ...unchanged,
    inserted: { text, instead },
  })
  const { list } = show(
    [leaf('main', null), leaf('a', forced('find', 'ls')), leaf('b', forced('\u202ex', null))],
    'main',
  )
  const rows = within(list).getAllByRole('link')
  expect(rows[1]?.textContent).toContain('at 1,211, find for ls')
  expect(rows[2]?.textContent).toContain('at 1,211, ⟨U+202E⟩x')
  document.body.replaceChildren()
  const both = ['a', 'b'].map((key, index) => leaf(key, forced('find', 'ls'), { group: { id: 'g', index } }))
  const together = show([leaf('main', null), ...both], 'main').list
  expect(within(together).getByRole('group').textContent).toContain('at 1,211, × 2, find for ls')
  expect(within(list).queryByRole('searchbox')).toBe(null)
})

test('A branch shows a piece of the edited message or tool result, on one line, and says if its text was removed', () => {
  const edited = (kind: 'message' | 'tool_result', text: string): Leaf['fork'] => ({
    from: 0,
    token: 5,
    kind,
    ...unchanged,
    edited: text,
  })
  const results = [0, 1].map((index) =>
    leaf(`r${index}`, edited('tool_result', '27 files\nin all'), { group: { id: 'g', index } }),
  )
  const { list } = show([leaf('main', null), leaf('a', edited('message', '')), ...results], 'main')
  expect(within(list).getAllByRole('link')[1]?.textContent).toContain('at 5, emptiedend_turnanother message')
  expect(within(list).getByRole('group').textContent).toContain('at 5, × 2, 27 files↵in all')
})

test('Many branches are searched by position, kind, outcome, inserted text and what the model sampled first', async () => {
  const many = Array.from({ length: 8 }, (_, index) => leaf(`more ${index}`, at(0, 20 + index)))
  const cut = leaf('cut', at(0, 30), { outcome: 'max_tokens' })
  const sampled = 'I think: the answer is forty-two.'
  const writes = leaf('writes', { from: 0, token: 31, kind: 'sampled_again', ...unchanged, sampled })
  const { list, user } = show([...LEAVES, ...many, cut, writes], 'main')
  const search = within(list).getByRole('searchbox', { name: 'Find in the branches' })
  await user.type(search, 'MAX_TOKENS')
  expect(
    within(list)
      .getAllByRole('link')
      .map((link) => link.getAttribute('href')),
  ).toContain('/t/cut?at=30')
  expect(list.querySelectorAll('li')).toHaveLength(1)
  await user.clear(search)
  await user.type(search, 'at 7')
  expect(within(list).getByRole('group')).toHaveProperty('open', true)
  await user.clear(search)
  await user.type(search, 'FORTY-two')
  const found = within(list).getAllByRole('link')
  expect(found.map((link) => link.getAttribute('href'))).toEqual(['/t/writes?at=31'])
  expect(found[0]?.textContent).toContain('…e answer is forty-two.')
  await user.type(search, ' nothing')
  expect(list.textContent).toContain('No branch has these words.')
})

test('A search counts the samples of value estimates that it finds, and unfolds them only if it finds no branch', async () => {
  const samples = ['s0', 's1', 's2', 's3'].map((key, index) => ({
    ...leaf(
      key,
      { from: 0, token: 4, kind: 'sampled_again', ...unchanged, sampled: index > 0 ? 'thirteen' : 'twelve' },
      {
        group: { id: 'e-0', index },
      },
    ),
    isValueSample: true,
  }))
  const { list, user } = show([...LEAVES, ...samples], 'main')
  const search = within(list).getByRole('searchbox', { name: 'Find in the branches' })
  const fold = () => list.querySelector('ul > li:last-child > details')
  await user.type(search, 'again')
  expect(fold()).toHaveProperty('open', false)
  expect(fold()?.querySelector('summary')?.textContent).toBe('4 of 4 samples of value estimates')
  await user.clear(search)
  await user.type(search, 'thirteen')
  expect(fold()).toHaveProperty('open', true)
  expect(fold()?.querySelector('summary')?.textContent).toBe('3 of 4 samples of value estimates')
})

test('The samples of value estimates are one folded line below the branches of the user, and open if one of them is shown', () => {
  const estimated = ['s0', 's1', 's2', 's3'].map((key, index) => ({
    ...leaf(key, at(0, index < 2 ? 4 : 5), { group: { id: `e-${index < 2 ? 0 : 1}`, index } }),
    isValueSample: true,
  }))
  const foldOf = (storedKey: string) =>
    show([...LEAVES, ...estimated], storedKey).list.querySelector('ul > li:last-child > details')
  const fold = foldOf('main')
  expect(fold).toHaveProperty('open', false)
  expect(fold?.querySelector('summary')?.textContent).toBe('4 samples of value estimates')
  expect(fold?.querySelectorAll('summary')).toHaveLength(3)
  document.body.replaceChildren()
  expect(foldOf('s2')).toHaveProperty('open', true)
})

test('Running samples are cancelled together, and main has no comparison with itself', async () => {
  vi.mocked(requestCancel).mockRejectedValueOnce(new Error('It does not answer.'))
  const running = LEAVES.map((each) =>
    each.row.key === 'b' ? leaf('b', each.fork, { group, outcomeKind: 'running' }) : each,
  )
  const { list, user } = show(running, 'main')
  expect(within(list).queryByRole('link', { name: 'Compare with main' })).toBeNull()
  await user.click(within(list).getByRole('button', { name: 'Cancel, 1 of 2' }))
  expect(requestCancel).toHaveBeenCalledWith('groups', 'g')
  expect((await screen.findByRole('alert')).textContent).toBe('It does not answer.')
})

test('The whole tree, its leaves or a selection are exported', async () => {
  HTMLDialogElement.prototype.showModal ??= function () {
    this.open = true
  }
  const exported = async (choose: (user: ReturnType<typeof userEvent.setup>) => Promise<void>) => {
    const { list, user } = show(LEAVES, 'main')
    await user.click(within(list).getByRole('button', { name: 'Export leaves…' }))
    await screen.findByRole('button', { name: 'Whole tree' })
    expect(screen.queryByRole('checkbox', { name: /value estimates/ })).toBe(null)
    await choose(user)
    await user.click(screen.getByRole('button', { name: /^Choose a format/ }))
    const text = (await screen.findByText(/^exports/)).textContent
    document.body.replaceChildren()
    return text
  }
  expect(await exported(async () => {})).toBe('exports main a b early twig')
  expect(await exported((user) => user.click(screen.getByRole('button', { name: 'Leaves' })))).toBe('exports a b twig')
  expect(
    await exported(async (user) => {
      await user.click(screen.getByRole('button', { name: 'Selection' }))
      await user.click(screen.getAllByRole('checkbox')[0] as HTMLElement)
    }),
  ).toBe('exports a b early twig')
  // A checkbox makes a selection of what was shown.
  expect(
    await exported(async (user) => {
      await user.click(screen.getByRole('button', { name: 'Leaves' }))
      await user.click(screen.getAllByRole('checkbox')[1] as HTMLElement)
      await user.click(screen.getAllByRole('checkbox')[0] as HTMLElement)
    }),
  ).toBe('exports main b twig')
})

test('An export of the tree leaves out the samples of value estimates unless they are included, and says so', async () => {
  HTMLDialogElement.prototype.showModal ??= function () {
    this.open = true
  }
  const samples = ['s0', 's1'].map((key, index) => ({
    ...leaf(key, at(4, 8), { group: { id: 'e-0', index } }),
    isValueSample: true,
  }))
  const exported = async (choices: readonly RegExp[]) => {
    const { list, user } = show([...LEAVES, ...samples], 'main')
    await user.click(within(list).getByRole('button', { name: 'Export leaves…' }))
    const included = await screen.findByRole('checkbox', { name: 'Include the 2 samples of value estimates' })
    expect(included).toHaveProperty('checked', false)
    for (const name of choices) await user.click(screen.getByText(name))
    await user.click(screen.getByRole('button', { name: /^Choose a format/ }))
    const text = (await screen.findByText(/^exports/)).textContent
    document.body.replaceChildren()
    return text
  }
  expect(await exported([])).toBe('exports main a b early twig')
  // The samples were forked from the last branch, which is a leaf without them.
  expect(await exported([/^Leaves$/])).toBe('exports a b twig')
  expect(await exported([/^Leaves$/, /^Include/])).toBe('exports a b s0 s1')
  expect(await exported([/^Include/])).toBe('exports main a b early twig s0 s1')
})
