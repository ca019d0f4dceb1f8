import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { ApiError } from '#lib/browser/api.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { TokenizerDialog } from './tokenizer-dialog.tsx'

const chooseTokenizer = vi.hoisted(() =>
  vi.fn<(key: string, choice: { tokenizer: string; parser?: string }) => Promise<TrajectoryView>>(),
)
vi.mock('#lib/browser/capabilities.ts', () => ({
  capabilitiesOptions: () => ({ queryKey: ['capabilities'], queryFn: () => ({ parsers: ['hermes', 'glm'] }) }),
}))
vi.mock('#lib/browser/tokenizers.ts', async (original) => ({
  ...(await original<typeof import('#lib/browser/tokenizers.ts')>()),
  tokenizerNamesOptions: () => ({ queryKey: ['names'], queryFn: () => ['llama', 'mine/Qwen3-8B'] }),
  chooseTokenizer,
}))

function show(encodesMessages: boolean, others: readonly string[] = []) {
  chooseTokenizer.mockReset().mockResolvedValue(sample)
  const onClose = vi.fn()
  render(
    <TokenizerDialog
      storedKey="key"
      tokenizer={undefined}
      parser={undefined}
      modelName="qwen3-8b"
      {...{ encodesMessages, others, onClose }}
    />,
    { wrapper: withQueries() },
  )
  return { onClose, user: userEvent.setup() }
}

test('the tokenizer dialog of messages suggests the tokenizer of the model first, and lets the template choose the parser', async () => {
  const { onClose, user } = show(true)
  await screen.findByDisplayValue('mine/Qwen3-8B')
  expect(screen.getByText(/marked as re-encoded/)).toBeDefined()
  expect(screen.getByText('Suggested by the name of the model in the file: qwen3-8b.')).toBeDefined()
  const [first] = screen.getAllByRole('listitem')
  expect(first?.textContent).toBe('mine/Qwen3-8B')
  await user.click(screen.getByRole('button', { name: 'Apply tokenizer' }))
  await vi.waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(chooseTokenizer.mock.calls).toEqual([['key', { tokenizer: 'mine/Qwen3-8B' }]])
})

test('the tokenizer dialog of ids keeps a name that is typed, and sends a parser', async () => {
  const { onClose, user } = show(false)
  const field = await screen.findByDisplayValue('mine/Qwen3-8B')
  expect(screen.getByText(/The ids do not change/)).toBeDefined()
  await user.clear(field)
  await user.type(field, 'a/b')
  await user.click(screen.getByRole('button', { name: 'Apply tokenizer' }))
  await vi.waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(chooseTokenizer.mock.calls).toEqual([['key', { tokenizer: 'a/b', parser: 'hermes' }]])
})

test.each([
  [true, ['key', 'second', 'third']],
  [false, ['key']],
])(
  'A tokenizer is applied to the trajectories of the file, with the box for all of them checked: %s',
  async (isForAll, keys) => {
    const { onClose, user } = show(false, ['second', 'third'])
    await screen.findByDisplayValue('mine/Qwen3-8B')
    const all = screen.getByRole('checkbox', { name: 'Also for the other 2 trajectories of the file' })
    if (!isForAll) await user.click(all)
    await user.click(screen.getByRole('button', { name: 'Apply tokenizer' }))
    await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
    expect(chooseTokenizer.mock.calls.map(([key]) => key)).toEqual(keys)
  },
)

test('A trajectory of the file that refuses the tokenizer costs only itself, and the dialog says why', async () => {
  const { onClose, user } = show(true, ['second', 'third'])
  chooseTokenizer.mockImplementation(async (key) => {
    if (key === 'second')
      throw new ApiError(422, 'TEMPLATE_REFUSES', 'the template refuses the messages', 'Choose another.')
    return sample
  })
  await screen.findByDisplayValue('mine/Qwen3-8B')
  await user.click(screen.getByRole('button', { name: 'Apply tokenizer' }))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('1 trajectory of the file did not change: the template refuses the messages')
  expect(alert.textContent).toContain('Choose another.')
  expect(chooseTokenizer.mock.calls.map(([key]) => key)).toEqual(['key', 'second', 'third'])
  expect(onClose).not.toHaveBeenCalled()
})
