/** The page of a group before its tree is known, with scripted answers of the server. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { withNuqsTestingAdapter } from 'nuqs/adapters/testing'
import type { ReactNode } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { GroupScreen } from './screen.tsx'

vi.mock('#components/shell/shell.tsx', () => ({
  Shell: ({ children }: { readonly children: ReactNode }) => <div>{children}</div>,
}))
vi.mock('#lib/browser/page-reader.ts', () => ({ pageReader: { prepare: () => {} } }))
vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
  useNavigation: () => ({ go: async () => {} }),
}))

afterEach(() => vi.unstubAllGlobals())

test('A group that does not exist has one request, the error with its advice, and the way to the library', async () => {
  const requests: string[] = []
  vi.stubGlobal('fetch', async (path: string) => {
    requests.push(path)
    const problem = { code: 'NO_GROUP', detail: 'there is no group x', hint: 'It may be deleted.' }
    return new Response(JSON.stringify(problem), { status: 404 })
  })
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <GroupScreen groupId="x" />
    </QueryClientProvider>,
    { wrapper: withNuqsTestingAdapter() },
  )
  expect(await screen.findByText('There is no group x')).toBeTruthy()
  expect(screen.getByText('It may be deleted.')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Open the library' }).getAttribute('href')).toBe('/library')
  expect(screen.queryByText(/^Reading the samples/)).toBeNull()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(requests).toEqual(['/api/groups/x/forest?advantage=mean-std'])
})
