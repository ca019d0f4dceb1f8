import { render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
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
      server={undefined}
      isConnected={false}
      isStarting={false}
      onServerTokenizer={() => {}}
    />,
    { wrapper: withQueries() },
  )
  expect(screen.queryAllByRole('status')).toHaveLength(count)
})
