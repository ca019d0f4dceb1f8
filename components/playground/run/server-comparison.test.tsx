import { QueryClient } from '@tanstack/react-query'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { ServerComparison as Answer } from '#lib/api/engine/server-comparison.ts'
import { serverComparisonOptions } from '#lib/browser/queries.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ServerComparisonPanel } from './server-comparison.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
}))

const spread = { tokens: 7, mean: 0.01, median: 0.002, p95: 0.02, p99: 0.03, max: 0.04 }
const member = (index: number, server: string) => ({
  key: `k${index}`,
  index,
  server,
  outcomeKind: 'ended' as const,
  outcome: 'end_turn',
  tokens: 20,
})
type Compared = Answer['comparisons'][number]

const EQUAL: Compared = {
  sample: member(1, 'vllm'),
  reference: member(0, 'sglang'),
  common: 20,
  divergence: null,
  chance: null,
  logprobs: { spread, kinds: ['raw'], assumed: [], refused: [] },
}

function shown(comparisons: readonly Compared[], servers: readonly string[] = ['sglang', 'vllm']) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  for (const reference of [undefined, 'vllm'])
    client.setQueryData([...serverComparisonOptions('g', reference).queryKey], {
      servers: [...servers],
      reference: reference ?? 'sglang',
      running: 0,
      comparisons: [...comparisons],
    })
  const chosen: unknown[] = []
  render(<ServerComparisonPanel groupId="g" onShow={(...sample) => chosen.push(sample)} />, {
    wrapper: withQueries(client),
  })
  return { chosen, user: userEvent.setup() }
}

test('servers with the same ids have the differences of their logprobs, with their kind and number', async () => {
  const { user } = shown([EQUAL])
  await user.click(screen.getByText('All ids are equal to those of sglang.'))
  const [row] = screen.getAllByRole('listitem')
  expect(row?.textContent).toContain('Sample 2 · vllm has the same 20 ids')
  expect(row?.textContent).toContain('|Δ| 0.0020 · 0.0300 · 0.0400 over 7 tokens, raw')
  expect(screen.queryByRole('combobox')).toBeNull()
  expect(
    within(row as HTMLElement)
      .getByRole('link')
      .getAttribute('href'),
  ).toBe('/compare?left=k0&right=k1')
})

test('the first token that differs is shown by its button, and the summary names the earliest one', async () => {
  const at = (token: number, kind: 'prompt' | 'response' | 'end') => ({ common: token, divergence: { token, kind } })
  const { chosen, user } = shown([
    { ...EQUAL, ...at(12, 'response') },
    { ...EQUAL, sample: { ...member(2, 'llama'), tokens: 9 }, ...at(9, 'end') },
    { ...EQUAL, sample: member(3, 'other'), ...at(3, 'prompt') },
  ])
  await user.click(screen.getByText('3 of 3 samples differ from sglang, first at token 3 (other).'))
  await user.click(screen.getByRole('button', { name: 'differs from token 12 on' }))
  await user.click(screen.getByRole('button', { name: 'ends apart at token 9' }))
  expect(chosen).toEqual([
    ['k1', 12],
    ['k2', 8],
  ])
  expect(screen.getByText(/another tokenizer or another chat template/)).toBeTruthy()
})

test('what limits the comparison is said: failures, chance, and logprobs of different or unknown kinds', () => {
  shown([
    {
      ...EQUAL,
      sample: { ...member(1, 'vllm'), outcomeKind: 'failed', outcome: 'CONNECTION_RESET', tokens: 9 },
      common: 9,
      divergence: { token: 9, kind: 'end' },
      chance: 'Sampled at temperature 1.',
      logprobs: {
        spread: null,
        kinds: [],
        assumed: ['the file does not say it'],
        refused: [{ why: 'processed at T 0.7 and raw', tokens: 4 }],
      },
    },
    { ...EQUAL, sample: member(2, 'llama'), logprobs: { ...EQUAL.logprobs, spread: null, kinds: [] } },
  ])
  for (const text of [
    'vllm ended with CONNECTION_RESET after 9 tokens.',
    'The ids may differ by chance. Sampled at temperature 1.',
    'Compared as if both had one meaning: the file does not say it.',
    'Logprobs of 4 tokens are not compared: processed at T 0.7 and raw.',
    'No token before the difference has a logprob of both.',
  ])
    expect(screen.getByText(text)).toBeTruthy()
})

test('with three servers, another one can be the reference', async () => {
  const { user } = shown([EQUAL], ['sglang', 'vllm', 'llama'])
  await user.selectOptions(screen.getByLabelText('Compared with'), 'vllm')
  expect(screen.getByText('All ids are equal to those of vllm.')).toBeTruthy()
})
