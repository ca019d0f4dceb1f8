/** The page of a group before its tree is known, with scripted answers of the server. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen } from '@testing-library/react'
import { withNuqsTestingAdapter } from 'nuqs/adapters/testing'
import type { ReactNode } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { GroupScreen } from './screen.tsx'
import { exampleGroup } from './test-group.ts'

vi.mock('#components/shell/shell.tsx', () => ({
  Shell: ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
    <div>
      <h1>{title}</h1>
      {children}
    </div>
  ),
}))
vi.mock('./group-page.tsx', () => ({
  GroupPage: ({ title, groupId }: { readonly title: string; readonly groupId: string }) => `${title} of ${groupId}`,
}))
vi.mock('#lib/browser/page-reader.ts', () => ({ pageReader: { load: () => {} } }))
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

test('The message of a group that is being read stays until its page is shown', async () => {
  vi.stubGlobal('fetch', async () => Response.json(exampleGroup().forest))
  const shown: string[] = []
  const observer = new MutationObserver(() => shown.push(document.body.textContent ?? ''))
  observer.observe(document.body, { childList: true, subtree: true, characterData: true })
  render(
    <QueryClientProvider client={new QueryClient()}>
      <GroupScreen groupId="41-08" />
    </QueryClientProvider>,
    { wrapper: withNuqsTestingAdapter() },
  )
  await screen.findByText(/ of 41-08$/)
  observer.disconnect()
  expect(shown.filter((text) => !/Reading the samples| of 41-08$/.test(text))).toEqual([])
})

test('A group has the question of its samples as its title, or their common title, and otherwise its id', async () => {
  const { forest } = exampleGroup()
  const titleOf = async (titles: readonly (string | null)[]) => {
    const samples = forest.samples.map((sample, index) => ({
      ...sample,
      row: {
        ...sample.row,
        title: titles[index % titles.length] ?? null,
        question: titles[0] === 'a' ? `q${index}` : '  How many? ',
      },
    }))
    vi.stubGlobal('fetch', async () => Response.json({ ...forest, samples }))
    const { unmount } = render(
      <QueryClientProvider client={new QueryClient()}>
        <GroupScreen groupId="41-07" />
      </QueryClientProvider>,
      { wrapper: withNuqsTestingAdapter() },
    )
    await screen.findByText(/ of 41-07$/)
    const title = screen.getByRole('heading', { level: 1 }).textContent
    unmount()
    return title
  }
  expect(await titleOf([null])).toBe('How many?')
  expect(await titleOf(['Count files'])).toBe('Count files')
  expect(await titleOf(['a', 'b'])).toBe('Group 41-07')
})
