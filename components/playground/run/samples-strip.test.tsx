import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { type SampleRow, WAITING } from '#lib/api/sample-progress.ts'
import { SamplesStrip } from './samples-strip.tsx'

const row = (index: number, state: 'ended' | 'writing'): SampleRow => ({
  index,
  key: `k${index}`,
  server: undefined,
  rolloutId: state === 'ended' ? undefined : 'r',
  progress: { ...WAITING, state },
  reward: null,
  rewardWhy: null,
})

function Strip({ rows }: { readonly rows: readonly SampleRow[] }) {
  const [shown, setShown] = useState<string | undefined>('k0')
  return (
    <SamplesStrip
      rows={rows}
      shown={shown}
      onShow={setShown}
      sort="index"
      onSort={() => {}}
      onStop={() => {}}
      onStopAll={() => {}}
      inspectorHref={(key) => `/t/${key}`}
      links={<a href="/group/g">Tree</a>}
    >
      {null}
    </SamplesStrip>
  )
}

test('every sample that has ended can be opened in the inspector by keyboard', async () => {
  // jsdom has no layout, so elements have no `scrollIntoView`.
  Element.prototype.scrollIntoView = vi.fn()
  render(<Strip rows={[row(0, 'ended'), row(1, 'ended'), row(2, 'writing')]} />)
  const link = () => screen.queryByRole('link', { name: 'Open in inspector' })
  expect(link()?.getAttribute('href')).toBe('/t/k0')
  screen.getByRole('option', { name: /^1/ }).focus()
  await userEvent.keyboard('{ArrowRight}')
  expect(link()?.getAttribute('href')).toBe('/t/k1')
  await userEvent.tab()
  expect(document.activeElement).toBe(link())
  await userEvent.tab({ shift: true })
  await userEvent.keyboard('{ArrowRight}')
  expect(link()).toBeNull()
})

test('The links of a group come before its controls, beside the number of samples, where a narrow window has space', () => {
  render(<Strip rows={[row(0, 'ended'), row(1, 'ended')]} />)
  const link = screen.getByRole('link', { name: 'Tree' })
  const sort = screen.getByRole('combobox', { name: 'Sort samples' })
  expect(link.compareDocumentPosition(sort) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy()
  expect(link.parentElement?.contains(sort)).toBe(false)
})

test('samples of several servers have the name of their server, in the list and below it', () => {
  const rows = [
    { ...row(0, 'ended'), server: 'sglang' },
    { ...row(1, 'ended'), server: 'vllm' },
  ]
  render(<Strip rows={rows} />)
  expect(screen.getByRole('option', { name: /^2 ?vllm/ })).toBeTruthy()
  expect(screen.getByText(/Sample 1 · sglang/)).toBeTruthy()
})
