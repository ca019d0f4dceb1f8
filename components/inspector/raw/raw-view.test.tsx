import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { Selection } from '#components/token-view/selection.ts'
import { rawText } from '#lib/analysis/raw/raw-text.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Inspection } from '../inspection.ts'
import { RawView } from './raw-view.tsx'

/** jsdom has no layout, so the observer never reports a size. */

const text = runToEnd(rawText(null, sampleTrajectory))

interface ScreenProps {
  readonly chosen: Selection | undefined
  readonly onSave: Inspection['onSave']
  readonly onSelect: Inspection['onSelect']
}

function Screen({ chosen, onSave, onSelect }: ScreenProps) {
  const [selection, setSelection] = useState(chosen)
  const inspection = {
    trajectory: sampleTrajectory,
    view: { selection },
    onSave,
    say: () => undefined,
    onSelect: (selection: Selection, tab: 'tokens') => {
      onSelect(selection, tab)
      setSelection(selection)
    },
  } as unknown as Inspection
  return <RawView inspection={inspection} text={text} isIdle />
}

function setUp(chosen?: Selection) {
  const onSave = vi.fn()
  const onSelect = vi.fn()
  const { container } = render(<Screen chosen={chosen} onSave={onSave} onSelect={onSelect} />)
  return { onSave, onSelect, path: () => container.querySelector('[data-raw-path]')?.textContent }
}

test('the Raw tab finds a text, steps through the hits in both directions, and shows the path of each', async () => {
  const user = userEvent.setup()
  const { path } = setUp()
  const field = screen.getByLabelText('Find in the file')
  await user.type(field, 'finish{Enter}')
  expect(await screen.findByText('1 of 2')).toBeTruthy()
  expect(path()).toBe('segments[1].finish')
  await user.keyboard('{Enter}')
  expect(path()).toBe('segments[3].finish')
  await user.keyboard('{Enter}')
  expect(path()).toBe('segments[1].finish')
  await user.keyboard('{Shift>}{Enter}{/Shift}')
  expect(path()).toBe('segments[3].finish')
  await user.clear(field)
  await user.type(field, 'nowhere')
  expect(await screen.findByText('no hits')).toBeTruthy()
})

test('the Raw tab moves between lines with the arrow keys, and shows the tokens of a value', async () => {
  const user = userEvent.setup()
  const { path, onSelect } = setUp({ anchor: 4, focus: 4 })
  expect(path()).toBe('segments[1].ids[1]')
  screen.getByRole('region', { name: 'JSON' }).focus()
  await user.keyboard('{ArrowDown}')
  expect(path()).toBe('segments[1].logprobs')
  await user.keyboard('{ArrowUp}{ArrowUp}')
  expect(path()).toBe('segments[1].kind')
  await user.click(screen.getByRole('button', { name: 'Show 5 tokens' }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 7, focus: 3 }, 'tokens')
  await user.click(screen.getByRole('button', { name: 'Go to token 3' }))
  expect(path()).toBe('segments[1].ids[0]')
})

test('the Raw tab saves the file as an export writes it', async () => {
  const { onSave } = setUp()
  await userEvent.setup().click(screen.getByRole('button', { name: 'Download' }))
  expect(onSave).toHaveBeenCalledWith(encode(sampleTrajectory), 'trajectory-sample.json')
})
