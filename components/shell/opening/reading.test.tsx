import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ApiError } from '#lib/browser/api.ts'
import type { OpenedFileStore } from '#lib/browser/files/opened-file.ts'
import { OpenedFileContext } from '#lib/browser/files/use-opened-file.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { Shell } from '../shell.tsx'

vi.mock('#lib/browser/page-reader.ts', () => ({ pageReader: { load: () => {}, prepare: () => {} } }))
vi.mock('next/navigation', () => ({ usePathname: () => '/library', useRouter: () => ({ prefetch: () => {} }) }))
vi.mock('../navigation.tsx', () => ({
  useNavigation: () => ({ go: async () => {}, application: 'answers' }),
  usePrefetch: () => () => {},
  Link: 'a',
}))

test('the message of a file that is being read disappears when an address is opened in its place', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}, { status: 404 }))
  const store: OpenedFileStore = {
    subscribe: () => () => {},
    state: () => NOTHING,
    // The file is never read to its end.
    open: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    openUrl: () => Promise.reject(new ApiError(422, 'URL_REFUSED', 'the file is not downloaded')),
    openingOf: () => undefined,
    storedWith: () => undefined,
    keysWith: () => [],
    store: async () => {},
  }
  render(
    <OpenedFileContext value={store}>
      <Shell title="Library" trajectory={undefined}>
        <main />
      </Shell>
    </OpenedFileContext>,
    { wrapper: withQueries() },
  )
  const user = userEvent.setup()
  await user.click(screen.getByRole('button', { name: 'Open' }))
  await user.upload(await screen.findByLabelText('Trajectory files'), new File(['{}'], 'large.jsonl'))
  expect(await screen.findByText('Reading large.jsonl…')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Open' }))
  await user.type(await screen.findByRole('textbox', { name: 'Open a URL' }), 'https://example.org/a.jsonl{Enter}')
  expect(await screen.findByText('The file is not downloaded')).toBeTruthy()
  expect(screen.queryByText('Reading large.jsonl…')).toBeNull()
})
const NOTHING = { kind: 'none' } as const
