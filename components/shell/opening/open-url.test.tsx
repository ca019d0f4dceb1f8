import { render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ApiError } from '#lib/browser/api.ts'
import type { OpenedFileStore } from '#lib/browser/files/opened-file.ts'
import { OpenedFileContext } from '#lib/browser/files/use-opened-file.ts'
import { OpenUrl } from './open-url.tsx'

const go = vi.fn(async (_: string) => {})
vi.mock('../navigation.tsx', () => ({ useNavigation: () => ({ go }) }))

const REFUSED = new ApiError(
  422,
  'URL_REFUSED',
  'the file is not downloaded: example.org is not one of the hosts in ROLLSCOPE_OPEN_HOSTS',
  'Start Rollscope with the host, as docs/formats.md says. `python public/convert_pt.py a.pt` is served at /convert_pt.py.',
)

/** Shows the form over a store whose downloads are `openUrl`. */
function form(openUrl: OpenedFileStore['openUrl']) {
  const onOpened = vi.fn()
  const openings: AbortController[] = []
  const onOpening = () => {
    const opening = new AbortController()
    openings.push(opening)
    return opening
  }
  const store: OpenedFileStore = {
    subscribe: () => () => {},
    state: () => NOTHING,
    open: () => Promise.reject(new Error('no file is opened')),
    openUrl,
    openingOf: () => undefined,
    storedWith: () => undefined,
    keysWith: () => [],
    store: async () => {},
  }
  const { unmount } = render(
    <OpenedFileContext value={store}>
      <OpenUrl onOpening={onOpening} onOpened={onOpened} />
    </OpenedFileContext>,
  )
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Open a URL' })
  return { field, onOpened, openings, unmount, user: userEvent.setup() }
}
const NOTHING = { kind: 'none' } as const

test('A refused URL stays in its field, with the reason as a sentence and a link to the documentation', async () => {
  const { field, onOpened, user } = form(() => Promise.reject(REFUSED))
  await user.type(field, 'https://example.org/a.jsonl{Enter}')
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toMatch(/^The file is not downloaded: example\.org/)
  expect(screen.getByRole('link', { name: 'docs/formats' }).getAttribute('href')).toBe('/docs/formats')
  expect(alert.textContent).toContain('as docs/formats says. `python public/convert_pt.py a.pt` is')
  expect(screen.getByRole('link', { name: '/convert_pt.py' }).getAttribute('href')).toBe('/convert_pt.py')
  expect(screen.getAllByRole('link')).toHaveLength(2)
  expect([field.value, field.getAttribute('aria-invalid')]).toEqual(['https://example.org/a.jsonl', 'true'])
  expect(onOpened).not.toHaveBeenCalled()
})

test('A URL that opens closes the dialog and leads to its trajectory; an empty one does nothing', async () => {
  const openUrl = vi.fn(async (_: string) => ({ count: 2, isShown: true }))
  const { field, onOpened, user } = form(openUrl)
  await user.type(field, '  {Enter}')
  expect(openUrl).not.toHaveBeenCalled()
  await user.type(field, 'https://example.org/a.jsonl{Enter}')
  await waitFor(() => expect(go).toHaveBeenCalledWith('/open?opened=2'))
  expect(onOpened).toHaveBeenCalledOnce()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('A URL is requested once while it is opened, and closing the dialog ends the request without a message', async () => {
  const signals: AbortSignal[] = []
  const { field, openings, unmount, user } = form(
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signals.push(signal)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  )
  await user.type(field, 'https://example.org/a.jsonl{Enter}')
  await screen.findByRole('button', { name: 'Opening…' })
  await user.type(field, '{Enter}')
  await waitFor(() => expect(signals).toHaveLength(1))
  unmount()
  expect([signals[0]?.aborted, openings.length]).toEqual([true, 1])
})
