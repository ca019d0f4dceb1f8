/** Tests of the dialog that opens files, examples and recent trajectories. */
import { QueryClient } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import type { ComponentProps } from 'react'
import { expect, test, vi } from 'vitest'
import { latestTrajectoriesOptions } from '#lib/browser/library/library.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { OpenDialog } from './open-dialog.tsx'

vi.mock('../navigation.tsx', () => ({ Link: (props: ComponentProps<'a'>) => <a {...props} /> }))
vi.mock('./open-url.tsx', () => ({ OpenUrl: () => null }))

test('recent trajectories have visible names, and what distinguishes samples of one question', () => {
  const row = {
    key: 'a',
    question: 'What is 2 + 2?',
    createdAt: '2020-01-01T00:00:00.000Z',
    addedAt: new Date().toISOString(),
    reward: 0.5,
    outcomeKind: 'ended',
    outcome: 'end_turn',
    tokens: 12,
    model: 'm\u202e',
    group: { id: 'g', index: 3 },
    health: null,
  }
  const trajectories = [
    { ...row, title: '   ' },
    { ...row, key: 'b', title: 'one \u202e two' },
  ]
  const cache = new QueryClient()
  cache.setQueryData(latestTrajectoriesOptions(20).queryKey, { trajectories } as never)
  vi.stubGlobal('fetch', () => new Promise(() => {}))
  render(<OpenDialog onFiles={() => {}} onOpening={() => new AbortController()} onClose={() => {}} />, {
    wrapper: withQueries(cache),
  })
  const named = screen.getByRole('link', { name: /^What is 2 \+ 2\?/ }).textContent
  expect(named).toContain('Sample 4reward 0.5end_turn12 tokensm⟨U+202E⟩')
  expect(named).not.toContain('2020')
  expect(screen.getByText('one ⟨U+202E⟩ two')).toBeDefined()
  vi.unstubAllGlobals()
})
