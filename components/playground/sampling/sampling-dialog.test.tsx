import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { describe, expect, test, vi } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerTraits } from '#lib/api/ignored-parameters.ts'
import type { SamplingField } from '#lib/sampling/fields.ts'
import type { OwnPreset } from '#lib/sampling/presets.ts'
import { parseSamplingTexts } from '#lib/sampling/sampling-form.ts'
import { DEFAULT_SETUP } from '#lib/share/settings/setup.ts'
import { SamplingDialog } from './sampling-dialog.tsx'

interface PageProps {
  readonly field: SamplingField | undefined
  readonly loadOfModel: () => Promise<string | undefined>
  readonly server?: ServerTraits
}

function Page({ field, loadOfModel, server = {} }: PageProps) {
  const [{ sampling, samples }, setSetup] = useState({ sampling: DEFAULT_SETUP.sampling, samples: '' })
  const [presets, setPresets] = useState<readonly OwnPreset[]>([])
  const { errors } = parseSamplingTexts(sampling)
  return (
    <>
      <SamplingDialog
        {...{ sampling, samples, errors, field, loadOfModel }}
        server={server}
        ownPresets={presets}
        onOwnPresets={setPresets}
        onChange={(changed) => setSetup({ samples, ...changed })}
        onClose={() => {}}
      />
      <output>{JSON.stringify({ ...sampling, samples })}</output>
    </>
  )
}

function openDialog(given: Partial<PageProps> = {}) {
  render(<Page field={undefined} loadOfModel={vi.fn()} {...given} />)
  return {
    user: userEvent.setup(),
    setup: () => JSON.parse(document.querySelector('output')?.textContent ?? ''),
  }
}

const shownParameters = () =>
  [...document.querySelectorAll<HTMLElement>('[data-parameter]')].map(({ dataset }) => dataset.parameter)
const input = (name: string) => screen.getByLabelText<HTMLInputElement>(name)

describe('the list of sampling parameters', () => {
  test('is searched in names and explanations, and says when nothing is found', async () => {
    const { user } = openDialog()
    await user.type(input('Find'), 'likely 20')
    expect(shownParameters()).toEqual([])
    expect(screen.getByText(/No matching parameters/)).toBeDefined()
    await user.clear(input('Find'))
    await user.type(input('Find'), 'many of the most likely')
    expect(shownParameters()).toEqual(['top_k'])
  })

  test('disables what the engine of the server does not take, with the reason, unless it is set', async () => {
    const { user } = openDialog({ server: { capabilities: ENGINE_CAPABILITIES['llama.cpp'] } })
    expect([input('stop_regex').disabled, input('temperature').disabled]).toEqual([true, false])
    expect(screen.getByText('llama.cpp has no parameter for stop_regex.')).toBeDefined()
    expect(await user.click(input('top_k')).then(() => input('top_k').disabled)).toBe(false)
  })

  test('sets and resets a parameter by keyboard, and shows a wrong value at its field', async () => {
    const { user, setup } = openDialog({ field: 'min_p' })
    expect(input('Find').value).toBe('min_p')
    input('min_p').focus()
    await user.keyboard('2')
    expect(input('min_p').getAttribute('aria-invalid')).toBe('true')
    await user.keyboard('{Backspace}0.1')
    expect(input('min_p').getAttribute('aria-invalid')).not.toBe('true')
    expect(setup().min_p).toBe('0.1')
    await user.tab()
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Reset min_p' }))
    await user.keyboard('{Enter}')
    expect(setup().min_p).toBe('')
  })
})

describe('sampling presets', () => {
  test('save the current parameters under a name, replace the same name, and can be applied and deleted', async () => {
    const { user, setup } = openDialog({ field: 'temperature' })
    const save = async (button: string) => {
      await user.type(input('Save current settings as'), 'Mine')
      await user.click(screen.getByRole('button', { name: button }))
    }
    const mine = () => document.querySelector<HTMLElement>('[data-preset="Mine"]') as HTMLElement
    await user.click(screen.getByRole('tab', { name: 'Presets' }))
    await save('Save')
    expect(within(mine()).getByText('Same as the current settings.')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Apply T = 1, for RL' }))
    expect(setup().temperature).toBe('1')
    expect(within(mine()).getByText('temperature 1 → 0.7')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Apply Mine' }))
    expect(setup().temperature).toBe('0.7')
    await user.click(screen.getByRole('button', { name: 'Apply T = 1, for RL' }))
    await save('Replace')
    expect(document.querySelectorAll('[data-preset="Mine"]')).toHaveLength(1)
    expect(within(mine()).getByText('Same as the current settings.')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Delete Mine' }))
    expect(mine()).toBeNull()
  })
})

describe('the import of sampling parameters', () => {
  const area = () => screen.getByLabelText<HTMLTextAreaElement>('Parameters of another program')
  const changes = () =>
    [...document.querySelectorAll('[data-change]')].map((row) =>
      [...row.querySelectorAll('td')].map(({ textContent }) => textContent),
    )
  const openImport = async (given: Partial<PageProps> = {}) => {
    const opened = openDialog(given)
    await opened.user.click(screen.getByRole('tab', { name: 'Import' }))
    const paste = async (text: string) => {
      await opened.user.clear(area())
      await opened.user.click(area())
      await opened.user.paste(text)
    }
    return { ...opened, paste }
  }

  test('shows another program’s parameters as changes, with those that are unsupported or ignored, and applies them', async () => {
    const { user, setup, paste } = await openImport()
    await paste('SamplingParams(temperature=0.6, top_p=3, max_tokens=64, stop=["\\n\\n"], best_of=8, n=4)')
    expect(changes()).toEqual([
      ['max_new_tokens', '512', '64'],
      ['temperature', '0.7', '0.6'],
      ['stop', 'not sent', '"\\n\\n"'],
    ])
    expect(screen.getByRole('region', { name: 'Cannot be sent' }).textContent).toContain(
      'top_p 3: must be a number above 0',
    )
    expect(screen.getByRole('region', { name: 'Ignored' }).textContent).toContain('best_of')
    await user.click(screen.getByRole('button', { name: 'Apply 4 changes' }))
    expect(setup()).toMatchObject({ temperature: '0.6', max_new_tokens: '64', top_p: '1', samples: '4' })
    expect(screen.getByText('No parameters would change.')).toBeDefined()
  })

  test('keeps the previously pasted text when a new text is too long', async () => {
    const { paste } = await openImport()
    await paste('{"temperature": 1}')
    screen.getByLabelText<HTMLTextAreaElement>('Parameters of another program').setSelectionRange(18, 18)
    await userEvent.paste(' '.repeat(200_000))
    expect(screen.getByText(/200,018 characters, more than the limit of 200,000/)).toBeDefined()
    expect(area().value).toBe('{"temperature": 1}')
  })

  test('imports the model’s own parameters, and says why if there are none', async () => {
    const loadOfModel = vi
      .fn<PageProps['loadOfModel']>()
      .mockResolvedValueOnce(undefined)
      .mockRejectedValueOnce(new Error('The server does not report where its model’s files are.'))
      .mockResolvedValueOnce('{"temperature": 0.6, "eos_token_id": 2}')
    const { user } = await openImport({ loadOfModel })
    const load = () => user.click(screen.getByRole('button', { name: 'Load the model’s defaults' }))
    await load()
    expect((await screen.findByRole('alert')).textContent).toBe('This model has no generation_config.json.')
    await load()
    expect((await screen.findByRole('alert')).textContent).toContain('does not report where')
    await load()
    expect(area().value).toContain('eos_token_id')
    expect(screen.queryByRole('alert')).toBeNull()
    expect(changes()).toEqual([
      ['temperature', '0.7', '0.6'],
      ['stop_token_ids', 'not sent', '2'],
    ])
  })
})
