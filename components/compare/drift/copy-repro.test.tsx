import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import type { Side } from '#lib/analysis/compare/side.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { sampleTrajectory as trajectory } from '#testing/sample-trajectory.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { looksBack } from '#testing/small-templates.ts'
import { CopyRepro } from './copy-repro.tsx'

const compile = () => {
  throw new Error('text needs no template')
}

function show(right: Side) {
  const played = simulateRollout(looksBack, [
    {
      messages: [{ role: 'user', content: 'hi' }],
      reply: byteTokenizer.encode('ho'),
      finish: { kind: 'stop', matched: 0 },
    },
  ]).trajectory
  const given = { trajectory: played, template: undefined }
  const compared = compareSides(
    { ...given, as: { kind: 'recorded' }, tokenizer: undefined },
    { ...given, as: { kind: 'text' }, tokenizer: { tokenizer: byteTokenizer, compile } },
  )
  if (!compared.ok) throw new Error(compared.why)
  const onSave = vi.fn()
  const pair = { left: { key: trajectory.id, as: { kind: 'recorded' } } as const, right, compared: compared.value }
  render(<CopyRepro pair={pair} drift={undefined} onSave={onSave} />)
  return { onSave, user: userEvent.setup() }
}

test('“Copy repro” copies and saves a Python test and JSON', async () => {
  const { user, onSave } = show({ key: trajectory.id, as: { kind: 'text' } })
  await user.click(screen.getByRole('button', { name: 'Copy pytest', hidden: true }))
  expect(await navigator.clipboard.readText()).toContain('def test_the_text_gives_the_recorded_tokens')
  expect(await screen.findByText('Copied pytest.')).toBeDefined()
  await user.click(screen.getByRole('button', { name: 'Save drift-repro.json', hidden: true }))
  const [[text, name] = []] = onSave.mock.calls
  expect(name).toBe('drift-repro.json')
  expect(JSON.parse(text).mode).toBe('text')
})

test('“Copy repro” says why two recorded trajectories have no repro', async () => {
  const { user, onSave } = show({ key: 'another', as: { kind: 'recorded' } })
  await user.click(screen.getByRole('button', { name: 'Save test_drift.py', hidden: true }))
  expect(await screen.findByText(/compared with its own reconstruction/)).toBeDefined()
  expect(onSave).not.toHaveBeenCalled()
})
