import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import type { ForkedFrom, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ForkRelation } from './fork-relation.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))

const readOther = vi.hoisted(() => vi.fn<() => Promise<Trajectory>>())
vi.mock('#lib/browser/queries.ts', async (original) => ({
  ...(await original<typeof import('#lib/browser/queries.ts')>()),
  trajectoryOptions: (key: string) => ({ queryKey: [key], queryFn: readOther }),
}))

/** Returns a trajectory of one prompt with these ids, without their texts. */
const withIds = (ids: readonly number[]): Trajectory => ({
  ...sample,
  vocab: {},
  segments: [{ kind: 'prompt', ids, messages: [] }],
})

function relation(forkedFrom: Partial<ForkedFrom> = {}) {
  const onChoose = vi.fn()
  const fork: ForkedFrom = { trajectory: 'parent~2', token: 2, kind: 'rendered_again', ...forkedFrom }
  render(
    <ForkRelation forkedFrom={fork} trajectory={withIds([1, 2, 207, 5])} storedKey="child" onChoose={onChoose} />,
    { wrapper: withQueries() },
  )
  return { onChoose, user: userEvent.setup(), section: screen.getByRole('region', { name: 'Fork' }) }
}

test('A fork names its kind and its first token that differs, with both ids, and leads to the other trajectory and to a comparison', async () => {
  readOther.mockResolvedValue(withIds([1, 2, 5]))
  const { onChoose, user, section } = relation()
  const compare = await screen.findByRole('link', { name: 'Compare both' })
  expect(section.textContent).toContain('at token 2: drift: the conversation was encoded again.')
  expect(section.textContent).toMatch(/⟨5⟩\s*→ ⟨207⟩/)
  expect(screen.getByRole('link', { name: 'another trajectory' }).getAttribute('href')).toBe('/t/parent~2')
  expect(compare.getAttribute('href')).toMatch(/^\/compare\?left=parent.+right=child/)
  await user.click(screen.getByRole('button', { name: 'token 2' }))
  expect(onChoose).toHaveBeenCalledWith(2)
})

test('A fork at the end of the other trajectory says so', async () => {
  readOther.mockResolvedValue(withIds([1, 2]))
  const { section } = relation({ kind: 'continued' })
  await screen.findByRole('link', { name: 'Compare both' })
  expect(section.textContent).toContain('a further turn')
  expect(section.textContent).toContain('end → ⟨207⟩')
})

test('A fork that begins with the token of the other trajectory shows the first token that differs, which can be selected', async () => {
  readOther.mockResolvedValue(withIds([1, 2, 207, 6]))
  const { onChoose, user, section } = relation({ kind: 'forced' })
  await user.click(await screen.findByRole('button', { name: '3' }))
  expect(onChoose).toHaveBeenCalledWith(3)
  expect(section.textContent).toMatch(/The first different token is 3:⟨6⟩\s*→ ⟨5⟩/)
})

test('A fork whose tokens are those of the other trajectory says so, and one that is its beginning shows the end', async () => {
  readOther.mockResolvedValue(withIds([1, 2, 207, 5]))
  const same = relation().section
  await screen.findByText('All tokens are the same.')
  expect(same.textContent).not.toContain('→')
  document.body.replaceChildren()
  readOther.mockResolvedValue(withIds([1, 2, 207, 5, 8]))
  const cut = relation().section
  await screen.findByRole('button', { name: '4' })
  expect(cut.textContent).toMatch(/⟨8⟩\s*→ end/)
})

test('A fork of a trajectory that is not stored here says so, without links', async () => {
  readOther.mockRejectedValue(new Error('there is no such trajectory'))
  const { section } = relation({ kind: 'sampled_again' })
  await screen.findByText(/a trajectory that is not stored here/)
  expect(section.textContent).toContain('sampled again after the same prompt')
  expect(screen.queryByRole('link')).toBeNull()
})
