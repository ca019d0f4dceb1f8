import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { ApiError } from '#lib/browser/api.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { PlaygroundNotices } from './run/run-notices.tsx'

let application = 'answers'
vi.mock('#components/shell/navigation.tsx', () => ({ useNavigation: () => ({ application }), Link: 'a' }))

test.each([
  [true, 1],
  [false, 0],
])('a run without a connection has a message of its own only while the application responds: %s', (responds, count) => {
  application = responds ? 'answers' : 'unreachable'
  render(
    <PlaygroundNotices
      problem={undefined}
      storedKey={undefined}
      server={undefined}
      isConnected={false}
      isStarting={false}
      onServerTokenizer={() => {}}
    />,
    { wrapper: withQueries() },
  )
  expect(screen.queryAllByRole('status')).toHaveLength(count)
})

test('a deleted trajectory is restored on its page, to which the message leads', () => {
  render(
    <PlaygroundNotices
      problem={new ApiError(404, 'DELETED', 'The trajectory "a b" was deleted')}
      storedKey="a b"
      server={undefined}
      isConnected
      isStarting={false}
      onServerTokenizer={() => {}}
    />,
    { wrapper: withQueries() },
  )
  expect(screen.getByRole('link', { name: 'Open it to restore it' }).getAttribute('href')).toBe('/t/a%20b')
})
