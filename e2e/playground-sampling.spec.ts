/** All sampling parameters, presets, and those of other programs. */
import { expect, test } from '@playwright/test'
import { ask, CHANGING, open, stored } from './application.ts'
import { expectFit, expectWithin, SCREENS } from './fit.ts'
import { startSlowServer } from './slow-server.ts'

test('any parameter is found, set and taken back by keyboard, and goes out with the run', async ({ page, request }) => {
  await open(page)
  const all = page.getByRole('button', { name: 'All sampling parameters …' })
  await all.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Sampling parameters' })
  await expect(dialog.getByLabel('Find')).toBeFocused()
  await page.keyboard.type('likeliest 20')
  await expect(dialog.locator('[data-parameter]')).toHaveCount(0)
  await dialog.getByLabel('Find').fill('many of the likeliest')
  await page.keyboard.press('Tab')
  await expect(dialog.getByLabel('top_k', { exact: true })).toBeFocused()
  await page.keyboard.type('0')
  await expect(dialog.getByText('must be a whole number from 1, or -1')).toBeVisible()
  await page.keyboard.press('Backspace')
  await page.keyboard.type('20')
  await dialog.getByLabel('Find').fill('min_p')
  await dialog.getByLabel('min_p', { exact: true }).fill('0.1')
  await page.keyboard.press('Tab')
  await expect(dialog.getByRole('button', { name: 'Reset min_p' })).toBeFocused()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect(all).toBeFocused()
  const chips = page.getByRole('list', { name: 'Further sampling parameters that are set' })
  await expect(chips.getByRole('button')).toHaveText(['top_k 20'])
  await page.getByLabel('temperature').fill('0')
  await ask(page, 'What is 2 + 2?')
  const { segments } = await stored(page, request)
  expect(segments[1]).toMatchObject({ request: { samplingParams: { temperature: 0, top_k: 20, top_p: 1 } } })
  await chips.getByRole('button').click()
  await expect(dialog.getByLabel('Find')).toHaveValue('top_k')
})

test('what another program sends is shown as changes, with what is left aside, and applied', async ({ page }) => {
  await open(page)
  await page.getByRole('button', { name: 'All sampling parameters …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sampling parameters' })
  await dialog.getByRole('tab', { name: 'Import' }).click()
  await dialog
    .getByLabel('Parameters of another program')
    .fill('SamplingParams(temperature=0.6, top_p=3, max_tokens=64, stop=["\\n\\n"], best_of=8)')
  await expect(dialog.locator('[data-change]')).toHaveText([
    'max_new_tokens51264',
    'temperature0.70.6',
    'stopnot sent"\\n\\n"',
  ])
  await expect(dialog.getByRole('region', { name: 'Cannot be sent' })).toContainText(
    'top_p 3: must be a number above 0',
  )
  await expect(dialog.getByRole('region', { name: 'Left aside' })).toContainText('best_of')
  await dialog.getByRole('button', { name: 'Apply 3 changes' }).click()
  await expect(dialog.getByText('Nothing of it would be changed.')).toBeVisible()
  const area = dialog.getByLabel('Parameters of another program')
  const pasted = await area.inputValue()
  await area.fill(`{"temperature": 1}${' '.repeat(200_000)}`)
  await expect(dialog.getByText('200,018 characters, more than the 200,000')).toBeVisible()
  await expect(area).toHaveValue(pasted)
  await dialog.getByRole('button', { name: 'The model’s own' }).click()
  await expect(dialog.getByLabel('Parameters of another program')).toHaveValue(/eos_token_id/)
  await page.keyboard.press('Escape')
  await expect(page.getByLabel('temperature')).toHaveValue('0.6')
})

test('a preset is one’s own, and is there after a reload', async ({ page }) => {
  await open(page)
  const openPresets = async () => {
    await page.getByRole('button', { name: 'All sampling parameters …' }).click()
    await page.getByRole('tab', { name: 'Presets' }).click()
  }
  await page.getByLabel('temperature').fill('0.33')
  await openPresets()
  await page.getByLabel('Save what is set now as').fill('Third')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Apply T = 1, for RL' }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByLabel('temperature')).toHaveValue('1')
  await page.reload()
  await openPresets()
  const third = page.locator('[data-preset="Third"]')
  await expect(third).toContainText('temperature 1 → 0.33')
  await third.getByRole('button', { name: 'Apply' }).click()
  await third.getByRole('button', { name: 'Delete' }).click()
  await expect(third).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(page.getByLabel('temperature')).toHaveValue('0.33')
})

test('what the server does not know is named, and left out at one click; a cut reply gets more room', async ({
  page,
}) => {
  await open(page)
  await page.getByLabel('temperature').fill('0')
  await page.getByLabel('max_new_tokens').fill('5')
  await page.getByRole('button', { name: 'All sampling parameters …' }).click()
  await page.getByLabel('Parameters that are not known here, JSON').fill('{"new_in_next": 1}')
  await page.keyboard.press('Escape')
  await page.getByLabel('Question').fill('What is 2 + 2?')
  await page.getByRole('button', { name: /Send/ }).click()
  const failed = page.getByRole('alert').filter({ hasText: 'does not know the parameter new_in_next' })
  await failed.getByRole('button', { name: 'Send again without new_in_next' }).click()
  await expect(page.getByText('The response reached max_new_tokens.')).toBeVisible()
  await expect(page.getByRole('list', { name: 'Further sampling parameters that are set' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Raise max_new_tokens to 10' }).click()
  await expect(page.getByLabel('max_new_tokens')).toHaveValue('10')
  await page.getByRole('button', { name: 'Write the next turn' }).click()
  await expect(page.getByLabel('Next turn')).toBeFocused()
})

test('structured output is asked for behind the tokens, which stay as they are, or recorded as a turn', async ({
  page,
  request,
}) => {
  await open(page)
  await page.getByLabel('temperature').fill('0')
  await ask(page, 'What is 2 + 2?')
  const before = await stored(page, request)
  await page.getByRole('button', { name: 'Ask for structured output …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Ask for structured output' })
  await expect(dialog.getByLabel('Question')).toBeFocused()
  await dialog.getByLabel('JSON Schema of an object').fill('{"type": "objct"}')
  await expect(dialog.getByText('expected one of string')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Ask', exact: true })).toBeDisabled()
  await dialog
    .getByLabel('JSON Schema of an object')
    .fill(
      '{"type": "object", "properties": {"even": {"type": "boolean"}}, "required": ["even"], "additionalProperties": false}',
    )
  await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
  await expect(dialog.getByText('It fits the schema.')).toBeVisible()
  await expect(dialog.getByRole('region', { name: 'Answer' }).locator('pre')).toHaveText(/"even": (true|false)/)
  expect(await stored(page, request)).toEqual(before)
  await dialog.getByLabel('Record it as a further turn').check()
  await dialog.getByRole('button', { name: 'Ask and record' }).click()
  await page.locator(`[data-idle="true"]`).waitFor()
  await expect.poll(async () => (await stored(page, request)).segments.length).toBe(before.segments.length + 2)
  const { segments } = await stored(page, request)
  expect(segments.at(-1)).toMatchObject({
    request: { samplingParams: { json_schema: expect.stringContaining('even') } },
  })
})

test('a run that was followed stays at its end when the banner about it takes room', async ({ page, request }) => {
  const slow = await startSlowServer(150)
  await request.delete('/api/servers/slow', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'slow', baseUrl: slow.baseUrl } })
  await open(page)
  await page.getByLabel('SGLang server').selectOption('slow')
  await page.getByLabel('max_new_tokens').fill('4')
  await page.getByLabel('System prompt').fill('Be brief.\n'.repeat(50))
  await page.getByLabel('Question').fill('What is 2 + 2?')
  await page.getByRole('button', { name: /Send/ }).click()
  await page.locator('[data-tokens][data-idle="false"]').waitFor()
  await expect(page.getByText('The response reached max_new_tokens.')).toBeVisible()
  await expect
    .poll(() => page.getByRole('grid').evaluate((grid) => grid.scrollHeight - grid.scrollTop - grid.clientHeight))
    .toBeLessThan(2)
  await slow.close()
})

for (const { viewport, colorScheme } of SCREENS)
  test(`the dialogs fit ${viewport.width} pixels`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(viewport)
    const pane = async (name: string) => {
      if (viewport.width < 1024) await page.getByRole('button', { name, exact: true }).click()
    }
    await open(page)
    await pane('Setup')
    await page.getByLabel('max_new_tokens').fill('60')
    await page.getByRole('button', { name: 'All sampling parameters …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('top_k', { exact: true }).fill('0')
    await expectFit(page)
    await dialog.getByLabel('Find').fill('nothing of this name')
    await expect(dialog.getByText('No parameter has these words')).toBeVisible()
    await dialog.getByRole('tab', { name: 'Presets' }).click()
    await expectFit(page)
    await dialog.getByRole('tab', { name: 'Import' }).click()
    await dialog.getByLabel('Parameters of another program').fill('top_p=3, max_tokens=20, best_of=8')
    await dialog.getByRole('button', { name: 'Apply 1 change' }).click()
    await expectFit(page)
    await page.keyboard.press('Escape')
    await page
      .getByRole('list', { name: /Further/ })
      .getByRole('button')
      .click()
    await dialog.getByRole('button', { name: 'Reset top_k' }).click()
    await page.keyboard.press('Escape')
    await pane('Tokens')
    await page.getByLabel('Samples', { exact: true }).fill('99')
    await expect(page.getByText('Samples must be from 1 to 64')).toBeVisible()
    await page.getByRole('button', { name: 'Reward of the answers' }).click()
    await page.getByRole('combobox', { name: 'Reward' }).selectOption('pattern')
    await expect(page.getByText('needs a regular expression')).toBeVisible()
    await expectFit(page)
    await expectWithin(page.locator('main'))
    await page.getByRole('combobox', { name: 'Reward' }).selectOption('none')
    await page.keyboard.press('Escape')
    await page.getByLabel('Samples', { exact: true }).fill('1')
    await page.getByLabel('Question').fill('What is 2 + 2?')
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(page.getByText('The response reached max_new_tokens.')).toBeVisible()
    await pane('Run')
    await page.getByRole('button', { name: 'Ask for structured output …' }).click()
    await page
      .getByLabel('JSON Schema of an object')
      .fill(
        '{"type": "object", "properties": {"even": {"type": "boolean"}}, "required": ["even"], "additionalProperties": false}',
      )
    await dialog.getByRole('button', { name: 'Ask', exact: true }).click()
    await expect(dialog.getByRole('region', { name: 'Answer' })).toBeVisible()
    await expectFit(page)
  })
