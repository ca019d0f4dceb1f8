import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { PlaygroundOutcome } from './outcome.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({ Link: () => null }))

function Outcome({ trajectory }: { readonly trajectory: TrajectoryView }) {
  const [setup, setSetup] = useState(DEFAULT_SETUP)
  return (
    <PlaygroundOutcome
      trajectory={trajectory}
      setup={setup}
      whyNot={() => undefined}
      onStep={(step) => 'setup' in step && setSetup(step.setup)}
    />
  )
}

test('A step that raises a limit keeps the focus, because its button stays with another number', async () => {
  render(<Outcome trajectory={{ ...sampleTrajectory, outcome: { kind: 'ended', reason: 'length' } }} />)
  const raise = screen.getByRole('button', { name: /^Raise max_new_tokens to/ })
  const before = raise.textContent
  raise.focus()
  await userEvent.keyboard('{Enter}')
  expect(raise.textContent).toMatch(/^Raise max_new_tokens to/)
  expect(raise.textContent).not.toBe(before)
  expect(document.activeElement).toBe(raise)
})
