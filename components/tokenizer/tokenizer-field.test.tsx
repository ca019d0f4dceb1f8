import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { Downloads } from './downloads.tsx'
import { TokenizerField } from './tokenizer-field.tsx'

const ready: ShownStatus = { state: 'ready', kind: 'server', tokenizerName: '/models/qwen', latencyMs: 1 }

interface FormProps {
  readonly first: string
  readonly status: ShownStatus
  readonly onChosen: (tokenizer: string) => void
}

function Form({ first, status, onChosen }: FormProps) {
  const [tokenizer, setTokenizer] = useState(first)
  const choose = (chosen: string) => {
    onChosen(chosen)
    setTokenizer(chosen)
  }
  return <TokenizerField tokenizer={tokenizer} status={status} isFixed={false} onChange={choose} />
}

function field(first = '', status = ready) {
  const chosen: string[] = []
  render(<Form first={first} status={status} onChosen={(tokenizer) => chosen.push(tokenizer)} />)
  return { chosen, user: userEvent.setup(), choice: screen.getByLabelText<HTMLSelectElement>('Tokenizer') }
}

test('the tokenizer field shows the tokenizer that the server reports', () => {
  field()
  expect(screen.getByText(/The server reports \/models\/qwen\. If this machine cannot read that path/)).toBeDefined()
})

test.each<[ShownStatus, string]>([
  [
    { ...ready, tokenizerName: 'org/name' },
    'The server reports org/name, which is loaded from this machine or the Hub.',
  ],
  [{ state: 'ready', kind: 'router', latencyMs: 1 }, 'The server reports no tokenizer: it is used as the tokenizer.'],
  [{ state: 'asking' }, 'From this machine or the Hub.'],
])('the tokenizer field explains which tokenizer is used, status %j', (status, text) => {
  field('', status)
  expect(screen.getByText(text)).toBeDefined()
})

test('the tokenizer field switches between the reported tokenizer, the server’s own and a named one', async () => {
  const { chosen, user, choice } = field()
  await user.selectOptions(choice, 'server')
  expect(chosen.at(-1)).toBe('server')
  expect(screen.getByText(/The ids are exact/)).toBeDefined()
  await user.selectOptions(choice, 'named')
  expect(choice.value).toBe('named')
  await user.type(screen.getByLabelText(/Hub name, or a folder/), 'a/b')
  expect(chosen.at(-1)).toBe('a/b')
  await user.clear(screen.getByLabelText(/Hub name, or a folder/))
  expect(choice.value).toBe('named')
  await user.selectOptions(choice, 'reported')
  expect(chosen.at(-1)).toBe('')
  expect(screen.queryByLabelText(/Hub name, or a folder/)).toBeNull()
})

test('the tokenizer field shows a name that was chosen before', () => {
  const { choice } = field('org/name')
  expect([choice.value, screen.getByLabelText<HTMLInputElement>(/Hub name, or a folder/).value]).toEqual([
    'named',
    'org/name',
  ])
})

test.each([
  ['built-in', 'Tokenizer: built-in'],
  ['server', 'Tokenizer: the server’s own, over /tokenize'],
  ['', 'Tokenizer: unknown'],
])('the tokenizer field is read-only for a run with the tokenizer %j', (tokenizer, text) => {
  render(<TokenizerField tokenizer={tokenizer} status={ready} isFixed onChange={() => {}} />)
  expect(screen.getByText(text)).toBeDefined()
  expect(screen.queryByRole('combobox')).toBeNull()
  expect(screen.queryByRole('textbox')).toBeNull()
})

const DOWNLOAD = [
  { kind: 'tokenizer', name: 'a/b', file: 'tokenizer.json', bytes: 3_140_000, total: 11_420_000 },
] as const

test('Downloads shows the file and the progress of a download', () => {
  render(<Downloads downloads={DOWNLOAD} />)
  expect(screen.getByText('tokenizer.json · 3.1 MB of 11.4 MB')).toBeDefined()
  const bar = screen.getByRole<HTMLProgressElement>('progressbar', { name: 'Download of a/b' })
  expect([bar.value, bar.max]).toEqual([3_140_000, 11_420_000])
})
