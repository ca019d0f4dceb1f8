/** Sampling parameters, presets and imports; their effect on a run, and structured output after it. */
import { expect, test } from '@playwright/test'
import { CHANGING, open, stored } from '../support/application.ts'
import { expectFitEverywhere, expectWithin, WINDOWS } from '../support/fit.ts'
import { startSlowServer } from '../support/slow-server.ts'

const SCHEMA =
  '{"type": "object", "properties": {"even": {"type": "boolean"}}, "required": ["even"], "additionalProperties": false}'

test('sampling parameters are set, saved, imported and sent with the run, and structured output is requested after it', async ({
  page,
  request,
}) => {
  // Chunks are slower than a frame, so that the page follows the run.
  const slow = await startSlowServer(100)
  await request.delete('/api/servers/slow-sampling', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'slow-sampling', baseUrl: slow.baseUrl } })
  await open(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('slow-sampling')
  const dialog = page.getByRole('dialog', { name: 'Sampling parameters' })
  const chips = page.getByRole('list', { name: 'Further sampling parameters that are set' })
  const fits = async (shown?: (isNarrow: boolean) => Promise<unknown>) => {
    await expectFitEverywhere(page, shown)
    await page.setViewportSize(WINDOWS[0])
  }

  await test.step('any parameter is found and set by keyboard', async () => {
    const all = page.getByRole('button', { name: 'All sampling parameters…' })
    await all.focus()
    await page.keyboard.press('Enter')
    await expect(dialog.getByLabel('Find')).toBeFocused()
    await page.keyboard.type('top_k')
    await page.keyboard.press('Tab')
    await expect(dialog.getByLabel('top_k', { exact: true })).toBeFocused()
    await page.keyboard.type('0')
    await expect(dialog.getByText('must be a whole number from 1, or -1')).toBeVisible()
    await dialog.getByLabel('Find').fill('')
    await fits()
    await dialog.getByLabel('top_k', { exact: true }).fill('20')
    await dialog.getByLabel('Unknown parameters, JSON').fill('{"new_in_next": 1}')
    await page.keyboard.press('Escape')
    await expect(all).toBeFocused()
    await expect(chips.getByRole('button')).toHaveText(['top_k 20', 'further {"new_in_next": 1}'])
  })

  await test.step('parameters are saved as a preset, and imported from another program', async () => {
    await chips.getByRole('button').first().click()
    await expect(dialog.getByLabel('Find')).toHaveValue('top_k')
    await dialog.getByRole('tab', { name: 'Presets' }).click()
    await dialog.getByLabel('Save current settings as').fill('Narrow')
    await page.keyboard.press('Enter')
    await expect(dialog.locator('[data-preset="Narrow"]')).toBeVisible()
    await fits()
    await dialog.getByRole('button', { name: 'Delete Narrow' }).press('Enter')
    await expect(dialog.getByLabel('Save current settings as')).toBeFocused()
    await dialog.getByRole('tab', { name: 'Import' }).click()
    const pasted = dialog.getByLabel('Parameters of another program')
    await dialog.getByRole('button', { name: 'Load the model’s defaults' }).click()
    await expect(pasted).toHaveValue(/eos_token_id/)
    await pasted.fill('SamplingParams(temperature=0, top_p=3, max_tokens=5, best_of=8)')
    await fits()
    await dialog.getByRole('button', { name: 'Apply 2 changes' }).click()
    await page.keyboard.press('Escape')
    await expect(page.getByLabel('temperature')).toHaveValue('0')
  })

  await test.step('a wrong number of samples and an incomplete reward are shown at their fields', async () => {
    await page.getByLabel('Samples', { exact: true }).fill('99')
    await expect(page.getByText('Samples must be from 1 to 64')).toBeVisible()
    await page.getByRole('button', { name: 'Reward of the answers' }).click()
    await page.getByRole('combobox', { name: 'Reward' }).selectOption('pattern')
    await expect(page.getByText('needs a regular expression')).toHaveCount(0)
    await page.getByLabel('Regular expression').press('Enter')
    await expectFitEverywhere(page, () => expect(page.getByText('needs a regular expression')).toBeVisible())
    await expectWithin(page.locator('main'))
    await page.setViewportSize(WINDOWS[0])
    await page.getByRole('combobox', { name: 'Reward' }).selectOption('none')
    await page.keyboard.press('Escape')
    await page.getByLabel('Samples', { exact: true }).fill('1')
  })

  await test.step('a parameter that the server does not know is left out by one click; the view stays at the end of the run', async () => {
    await page.getByLabel('System prompt').fill('Be brief.\n'.repeat(50))
    await page.getByLabel('Question').fill('What is 2 + 2?')
    await page.getByRole('button', { name: /Send/ }).click()
    const failure = page.getByRole('alert').filter({ hasText: 'does not support the parameter new_in_next' })
    await failure.getByRole('button', { name: 'Send again without new_in_next' }).click()
    await expect(page.getByText('The response reached max_new_tokens.')).toBeVisible()
    // The notice reduces the height of the tokens.
    await expect
      .poll(() => page.getByRole('grid').evaluate((grid) => grid.scrollHeight - grid.scrollTop - grid.clientHeight))
      .toBeLessThan(2)
    await expect(chips.getByRole('button')).toHaveText(['top_k 20'])
    const { segments } = await stored(page, request)
    expect(segments[1]).toMatchObject({ request: { samplingParams: { temperature: 0, top_k: 20, top_p: 1 } } })
    await page.getByRole('button', { name: 'Raise max_new_tokens to 10' }).click()
    await expect(page.getByLabel('max_new_tokens')).toHaveValue('10')
    // The structured output needs more tokens.
    await page.getByLabel('max_new_tokens').fill('60')
    await page.getByRole('button', { name: 'Write the next turn' }).click()
    await expect(page.getByLabel('Next turn')).toBeFocused()
  })

  await test.step('structured output leaves the tokens unchanged, unless it is recorded as a turn', async () => {
    const before = await stored(page, request)
    await page.getByRole('button', { name: 'Request structured output…' }).click()
    const structured = page.getByRole('dialog', { name: 'Request structured output' })
    await expect(structured.getByLabel('Question')).toBeFocused()
    await structured.getByLabel('JSON Schema of an object').fill(SCHEMA)
    await structured.getByRole('button', { name: 'Request', exact: true }).click()
    await expect(structured.getByRole('region', { name: 'Answer' }).locator('pre')).toHaveText(/"even": (true|false)/)
    await fits()
    expect(await stored(page, request)).toEqual(before)
    await structured.getByLabel('Add as a next turn').check()
    await structured.getByRole('button', { name: 'Request and add' }).click()
    await expect.poll(async () => (await stored(page, request)).segments.length).toBe(before.segments.length + 2)
    const { segments } = await stored(page, request)
    expect(segments.at(-1)).toMatchObject({
      request: { samplingParams: { json_schema: expect.stringContaining('even') } },
    })
  })
  await slow.close()
})
