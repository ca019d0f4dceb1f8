import { readFileSync } from 'node:fs'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { checkInputs } from '#lib/analysis/requests/check-inputs.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Inspection } from '../inspection.ts'
import { RequestsTab } from './requests-tab.tsx'

const example: Trajectory = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))

function setUp(trajectory: Trajectory, at?: number) {
  const onSelect = vi.fn()
  const inspection = {
    trajectory,
    view: { selection: at === undefined ? undefined : { anchor: at, focus: at } },
    onSelect,
    say: () => undefined,
    run: async () => runToEnd(checkInputs(null, trajectory)),
  } as unknown as Inspection
  const { container } = render(<RequestsTab inspection={inspection} />)
  return { onSelect, container }
}

test('the Requests tab opens the request that sampled the selected token, and selects its tokens', async () => {
  const user = userEvent.setup()
  const { onSelect, container } = setUp(example, 250)
  expect(await screen.findByText('matches the tokens here ✓')).toBeTruthy()
  expect(container.querySelectorAll('[data-holds="true"]')).toHaveLength(3)
  const open = container.querySelector<HTMLElement>('[data-request-open]')
  expect(open?.dataset.requestOpen).toBe('2')
  await user.click(within(open as HTMLElement).getByRole('button', { name: 'Show the new prompt' }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 248, focus: 233 }, 'tokens')
  await user.click(within(open as HTMLElement).getByRole('button', { name: 'Python' }))
  expect(screen.getByRole('region', { name: 'Python of request 2' }).textContent).toMatch(/237\s+more/)
})

test('the Requests tab reports changed ids on every request after them', async () => {
  const [first, ...others] = example.segments
  const changed = { ...first, ids: [5, ...(first?.ids.slice(1) ?? [])] } as Trajectory['segments'][number]
  const { container } = setUp({ ...example, segments: [changed, ...others] })
  expect(await screen.findByText('the ids here differ')).toBeTruthy()
  expect(container.querySelectorAll('[data-holds="false"]')).toHaveLength(3)
})

test('the Requests tab has the share from the cache of what the model read, which are more tokens than were sent for images', async () => {
  const segments = example.segments.map((segment) =>
    segment.kind === 'response' ? { ...segment, usage: { promptTokens: 2000, cachedTokens: 1500 } } : segment,
  )
  setUp({ ...example, segments })
  expect(await screen.findByText(/ tokens sent · 75 % from the cache · /)).toBeTruthy()
  expect(screen.getAllByText(/^2,000 in · 1,500 cached$/)).toHaveLength(3)
})

test('the Requests tab says that the server of a request is unknown if the file does not name it', () => {
  const segments = example.segments.map((segment) =>
    segment.kind === 'response' && segment.request
      ? { ...segment, request: { ...segment.request, server: undefined } }
      : segment,
  )
  setUp({ ...example, segments })
  expect(screen.getAllByText('server')[0]?.nextElementSibling?.textContent).toBe('unknown')
})

test('the Requests tab says why a file has no requests', () => {
  const bare = example.segments.map((segment) => ({ ...segment, request: undefined })) as Trajectory['segments']
  setUp({ ...example, segments: bare, provenance: { kind: 'import', format: 'slime', lacked: [] } })
  expect(screen.getByText(/Files of the format slime contain the tokens that were read and written/)).toBeTruthy()
})
