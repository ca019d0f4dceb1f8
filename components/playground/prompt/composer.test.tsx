import { act, fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { EMPTY_PROMPT } from '#lib/share/settings/prompt-draft.ts'
import { Composer } from './composer.tsx'

const onStop = vi.fn()
const onSend = vi.fn()
let end = () => {}

beforeEach(() => {
  vi.useFakeTimers()
  onStop.mockClear()
  onSend.mockClear()
})

/** Page with a composer whose run begins with Send and ends with Stop. */
function Page({ isSetupReading = false }) {
  const [state, setState] = useState<'ready' | 'running'>('ready')
  end = () => setState('ready')
  return (
    <Composer
      draft={{ ...EMPTY_PROMPT, question: 'hi', images: [] }}
      onChange={() => {}}
      onAttach={() => {}}
      state={state}
      isSetupReading={isSetupReading}
      isFirst
      onSend={() => {
        onSend()
        setState('running')
      }}
      onStop={() => {
        onStop()
        setState('ready')
      }}
      onStartOver={() => {}}
      onPreview={() => new Promise<never>(() => {})}
      previewed={{}}
    />
  )
}

const button = () => screen.getByRole('button', { name: /Send|Stop/ })
const doubleClick = () => {
  fireEvent.click(button(), { detail: 1 })
  fireEvent.click(button(), { detail: 2 })
}

test('a double click on Send in the composer starts one run and does not stop it', () => {
  render(<Page />)
  doubleClick()
  expect([onSend.mock.calls.length, onStop.mock.calls.length]).toEqual([1, 0])
  expect(button().textContent).toContain('Stop')
})

test('the composer sends nothing before the stored setup is read, by click or by keyboard', () => {
  const send = () => {
    fireEvent.click(button(), { detail: 1 })
    fireEvent.keyDown(screen.getByRole('textbox'), { key: 'Enter', ctrlKey: true })
  }
  const { rerender } = render(<Page isSetupReading />)
  send()
  expect(onSend).not.toHaveBeenCalled()
  rerender(<Page />)
  send()
  expect(onSend).toHaveBeenCalledOnce()
})

test('a click on Stop in the composer right after Send stops the run', () => {
  render(<Page />)
  fireEvent.click(button(), { detail: 1 })
  fireEvent.click(button(), { detail: 1 })
  expect(onStop).toHaveBeenCalledOnce()
})

test('a double click on Stop in the composer does not send the next turn', () => {
  render(<Page />)
  fireEvent.click(button(), { detail: 1 })
  doubleClick()
  expect([onSend.mock.calls.length, onStop.mock.calls.length]).toEqual([1, 1])
})

test('Enter twice on the composer’s Send button does not stop the run; a later Enter does', () => {
  render(<Page />)
  // A click by keyboard has the detail 0.
  fireEvent.click(button(), { detail: 0 })
  fireEvent.click(button(), { detail: 0 })
  expect([onSend.mock.calls.length, onStop.mock.calls.length]).toEqual([1, 0])
  vi.advanceTimersByTime(600)
  fireEvent.click(button(), { detail: 0 })
  expect(onStop).toHaveBeenCalledOnce()
})

test('the keys of Send pressed twice in the question field start one run', () => {
  render(<Page />)
  const field = screen.getByLabelText('Question')
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
  expect([onSend.mock.calls.length, onStop.mock.calls.length]).toEqual([1, 0])
  act(() => end())
  // A key that is held down repeats; the repeats of the keystroke that sent must not send again.
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true, repeat: true })
  expect(onSend).toHaveBeenCalledOnce()
})

test('the field of the composer receives the focus when the Stop or New run button that has it disappears', () => {
  const at = (state: 'ready' | 'running' | 'stopping', isFirst: boolean) => (
    <Composer
      draft={EMPTY_PROMPT}
      onChange={() => {}}
      onAttach={() => {}}
      state={state}
      isFirst={isFirst}
      onSend={onSend}
      onStop={onStop}
      onStartOver={() => {}}
      onPreview={() => new Promise<never>(() => {})}
      previewed={{}}
    />
  )
  const { rerender } = render(at('running', false))
  button().focus()
  rerender(at('stopping', false))
  expect(document.activeElement).toBe(screen.getByRole('textbox'))
  rerender(at('running', false))
  button().focus()
  rerender(at('ready', false))
  expect(document.activeElement).toBe(screen.getByRole('textbox'))
  screen.getByRole('button', { name: 'New run' }).focus()
  rerender(at('ready', true))
  expect(document.activeElement).toBe(screen.getByRole('textbox'))
  act(() => screen.getByRole('textbox').blur())
  rerender(at('running', true))
  expect(document.activeElement).toBe(document.body)
})
