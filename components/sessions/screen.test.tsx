/** The page of sessions with scripted answers: its keys, and sessions that do not exist. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, fireEvent, render, screen, within } from '@testing-library/react'
import { NuqsTestingAdapter } from 'nuqs/adapters/testing'
import type { ReactNode } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import type { SessionCallRow } from '#lib/api/sessions/session.ts'
import { storeToken } from '#lib/browser/api.ts'
import { testCall, testSession } from '#testing/sessions.ts'
import type { SessionCallNode } from './call-texts.ts'
import { SessionsScreen } from './screen.tsx'

const go = vi.hoisted(() => vi.fn(async (_href: string) => {}))
vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
  useNavigation: () => ({ go }),
}))
vi.mock('#components/shell/shell.tsx', () => ({
  Shell: ({ children }: { readonly children: ReactNode }) => children,
}))
vi.mock('./call-tokens.tsx', () => ({
  CallTokens: ({ entry }: { readonly entry: SessionCallNode }) => <h2>Call {entry.call.sequence}</h2>,
}))

/** The sessions of the server, with their calls. */
let sessions: Map<string, readonly SessionCallRow[]>

function answer(address: string): Response {
  const [, , name, id = ''] = new URL(address, 'http://localhost').pathname.split('/')
  if (name === 'sessions' && id === '')
    return Response.json({ isPaused: false, sessions: [...sessions.keys()].map((id) => ({ ...testSession, id })) })
  const calls = sessions.get(id)
  return calls
    ? Response.json({ session: { ...testSession, id }, running: [], calls })
    : Response.json({ status: 404, code: 'NO_SESSION', detail: `there is no session "${id}"` }, { status: 404 })
}

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
beforeEach(() => {
  storeToken('a-token')
  client.clear()
  go.mockClear()
  const first = testCall(1, { kind: 'new-root', because: 'first-call' })
  sessions = new Map([
    ['ses_2', [first, testCall(2, { kind: 'continued' }), testCall(3, { kind: 'retried', of: 1 })]],
    ['ses_1', [first]],
  ])
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (address) => answer(String(address)))
})

async function show(address = ''): Promise<void> {
  await act(async () => {
    render(
      <NuqsTestingAdapter searchParams={address} hasMemory>
        <QueryClientProvider client={client}>
          <SessionsScreen />
        </QueryClientProvider>
      </NuqsTestingAdapter>,
    )
  })
}

const press = (key: string, target: Element = document.body) => act(async () => void fireEvent.keyDown(target, { key }))
const chosenSession = () => document.querySelector('[data-session][data-chosen]')?.getAttribute('data-session')

test('J and K select the next and the previous session wherever the focus is, and stop at the ends', async () => {
  await show()
  await expect.poll(chosenSession).toBe('ses_2')
  await press('j')
  expect(chosenSession()).toBe('ses_1')
  expect(document.activeElement?.textContent).toBe('ses_1')
  await press('j')
  expect(chosenSession()).toBe('ses_1')
  await press('k')
  expect(chosenSession()).toBe('ses_2')
})

test('The arrow keys select calls, whose rows get the focus, and C compares a call with the history that it changed', async () => {
  await show()
  await screen.findByRole('heading', { name: 'Call 3' })
  await press('c')
  expect(go).toHaveBeenCalledWith('/compare?left=key+2&right=key+3')
  await press('ArrowUp')
  expect(screen.getByRole('heading').textContent).toBe('Call 2')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Call 2')
  await press('c')
  expect(go).toHaveBeenCalledOnce()
  expect(screen.getByText('This call did not leave the path of an earlier one: select a fork.')).toBeTruthy()
  await press('ArrowDown')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Call 3')
})

test('Keys that are typed into a field or while a dialog is open select nothing', async () => {
  await show()
  await screen.findByRole('heading', { name: 'Call 3' })
  await press('j', screen.getByLabelText('Reward'))
  const dialog = document.body.appendChild(document.createElement('dialog'))
  dialog.setAttribute('open', '')
  await press('j')
  dialog.remove()
  expect(chosenSession()).toBe('ses_2')
})

test('An address with an unknown session says so, with links to the list and to the library', async () => {
  await show('?session=nothing')
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('There is no session nothing.')
  expect(
    within(alert)
      .getAllByRole('link')
      .map((link) => link.getAttribute('href')),
  ).toEqual(['/sessions', '/library'])
  expect(screen.queryByText('Loading…')).toBeNull()
  expect(screen.getByText(/sessions\/auto\/v1/)).toBeTruthy()
  await press('j')
  expect(chosenSession()).toBe('ses_2')
})

test('Without any session, an address with an unknown one still says so', async () => {
  sessions.clear()
  await show('?session=nothing')
  expect((await screen.findByRole('alert')).textContent).toContain('There is no session nothing.')
  expect(screen.getByText('No session yet')).toBeTruthy()
})

test('A session that is deleted while its page is open is reported as deleted', async () => {
  await show('?session=ses_1')
  await screen.findByRole('heading', { name: 'Call 1' })
  sessions.delete('ses_1')
  await act(() => client.invalidateQueries())
  expect((await screen.findByRole('alert')).textContent).toContain('The session ses_1 was deleted.')
  expect(screen.queryByRole('heading', { name: 'Call 1' })).toBeNull()
})
