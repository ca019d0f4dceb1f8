/** The compare page: sides, address, keys, entry points, and its messages for a side that cannot be made. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, open, postImport, reload, whenQuiet } from '../support/application.ts'
import { watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

const compared = (page: Page) => page.locator('[data-compare="done"]').waitFor()
const summary = (page: Page) => page.getByRole('region', { name: 'Summary' })
const card = (page: Page) => page.getByRole('region', { name: 'Drift span' })

test('A comparison can be used by keyboard alone, is restored by its address, and links to the inspector and back', async ({
  page,
}) => {
  const wrongs = watch(page)
  const quiet = whenQuiet(page)
  await open(page, '/compare')
  await page.getByRole('searchbox').focus()
  const example = page.getByRole('button', {
    name: /Sampled ids that change when the text is encoded again.*Temperature 1/s,
  })
  await example.focus()
  await page.keyboard.press('Enter')
  await compared(page)
  await expect(page).toHaveURL(/left=example/)
  expect(Number(await summary(page).getAttribute('data-drift'))).toBeGreaterThan(2)

  await test.step('keys step through the drift spans, and the address restores the view', async () => {
    // On a busy machine the router writes the address of the sides again, without a drift span that was chosen meanwhile.
    await quiet()
    await page.keyboard.press(']')
    await expect(card(page)).toHaveAttribute('data-drift', '0')
    await expect(card(page)).toContainText('split')
    await page.keyboard.press('n')
    await expect(card(page)).toHaveAttribute('data-drift', '1')
    await page.keyboard.press('[')
    await page.keyboard.press('[')
    await expect(page.getByText('No drift before this.')).toBeVisible()
    await page.keyboard.press('c')
    await page.keyboard.press('u')
    await expect(page.getByRole('button', { name: 'Only differences' })).toHaveAttribute('aria-pressed', 'true')
    await expect(page).toHaveURL(/drift=0.*only=true.*unified=true/)
    await reload(page)
    await compared(page)
    await expect(card(page)).toHaveAttribute('data-drift', '0')
    await expect(page.getByRole('grid')).toHaveAttribute('data-arrangement', 'unified')
  })

  await test.step('a drift span opens in the inspector, and the inspector compares', async () => {
    await card(page).getByRole('link', { name: 'Show in the inspector' }).first().click()
    await expect(page).toHaveURL(/\/example\/retokenization-drift\?at=\d+-\d+/)
    await page.getByRole('button', { name: 'Compare with retokenized' }).click()
    await compared(page)
    await page.goBack()
    await page.getByRole('button', { name: /drift 3 spans/ }).click()
    await page.getByRole('button', { name: 'Show in Compare' }).click()
    await compared(page)
    await expect(summary(page)).toHaveAttribute('data-drift', '3')
  })

  await test.step('a key swaps the sides, a command changes the kind of the right side, and the tokens keep the focus', async () => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('s')
    await expect(page).toHaveURL(/left=[^&]*~text/)
    await compared(page)
    await expect(page.getByRole('grid')).toBeFocused()
    await expect(summary(page)).toHaveAttribute('data-drift', '3')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command' }).fill('right messages')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/right=[^&]*~structured/)
    await compared(page)
  })

  await test.step('a side that was made is exported like a recorded one', async () => {
    await page.keyboard.press('e')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Right', exact: true }).click()
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Export as Rollscope' }).click()
    const { provenance } = JSON.parse(readFileSync(await (await download).path(), 'utf8'))
    expect(provenance).toMatchObject({ kind: 'retokenized', mode: 'structured' })
    await page.keyboard.press('Escape')
  })
  expect(wrongs).toEqual([])
})

test('Sides that cannot be made offer other choices, a chat baseline runs, and the library compares two trajectories', {
  tag: CORE,
}, async ({ page, request }) => {
  for (const name of ['retokenization-drift', 'two-steps'])
    await postImport(request, readFileSync(`public/examples/${name}.json`), `compare-${name}.json`)
  await open(page, '/compare?left=no-such-key&right=example:two-steps~text~tokenizer=no/such')
  const dialog = page.getByRole('dialog')

  await test.step('the page offers another trajectory for one that is not stored', async () => {
    await expect(page.getByText('there is no such trajectory: "no-such-key"')).toBeVisible()
    await page.getByRole('button', { name: 'Choose another trajectory…' }).click()
    // The examples are listed after the stored trajectories.
    await dialog
      .getByRole('button', { name: /^Two calls, one after the other/ })
      .last()
      .click()
    await expect(page).toHaveURL(/left=example:two-steps/)
  })

  await test.step('the page offers another tokenizer for one that cannot be loaded', async () => {
    await page.getByRole('button', { name: 'Tokenizer of the right side…' }).click()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await expect(dialog.getByRole('alert')).toContainText('no/such')
    await dialog.getByRole('button', { name: 'built-in', exact: true }).first().click()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await compared(page)
    await expect(page).toHaveURL(/tokenizer=built-in/)
    await expect(summary(page)).toContainText(
      /No drift.*All \d+ tokens of the left side have the same ids on the right/,
    )
  })

  await test.step('the chat baseline of a run is compared with what the server read', async () => {
    await page.getByLabel('Left side shown as').selectOption('Live chat baseline…')
    await dialog.getByRole('button', { name: 'Run the chat baseline' }).click()
    await dialog.getByRole('button', { name: 'Compare sampled and read ids' }).click()
    await expect(page).toHaveURL(/right=[^&]*~read/)
    await compared(page)
  })

  await test.step('two trajectories that are selected in the library are compared', async () => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Library' }).click()
    await page.locator('[data-library="idle"]').waitFor()
    // Other journeys may have stored the same examples.
    for (const title of ['Sampled ids that change when the text is encoded again', 'Two calls, one after the other'])
      await page
        .getByRole('checkbox', { name: `Select ${title}` })
        .first()
        .check()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await compared(page)
    await expect(summary(page)).not.toHaveAttribute('data-drift', '0')
    await expect(summary(page)).toContainText(/first divergence at token.*rewards.*outcomes/)
    await expect(summary(page)).not.toContainText('cache')
  })
})

test('A run that is compared while it continues is compared again until it has ended', async ({ page, request }) => {
  const [key] = await postImport(request, readFileSync('public/examples/two-steps.json'))
  let isRunning = true
  await page.route(`**/api/trajectories/${key}`, async (route) => {
    const response = await request.get(route.request().url(), { headers: AUTHORIZED })
    const whole = await response.json()
    const begun = { ...whole, outcome: { kind: 'running' }, segments: whole.segments.slice(0, 4) }
    await route.fulfill({ json: isRunning ? begun : whole })
  })
  await open(page, `/compare?left=${encodeURIComponent(key)}`)
  await compared(page)
  const tokens = page.getByText(/\d tokens left · \d+ right$/)
  await expect(tokens).toBeVisible()
  const before = await tokens.textContent()
  isRunning = false
  await expect(tokens).not.toHaveText(before ?? '')
  await expect(tokens).toContainText('364 tokens left')
})

test('A compared trajectory that another window deletes is reported, and a button restores it', async ({
  page,
  request,
}) => {
  const [key] = await postImport(request, readFileSync('public/examples/two-steps.json'))
  await open(page, `/compare?left=${encodeURIComponent(key)}`)
  await compared(page)
  await request.delete(`/api/trajectories/${key}`, { headers: CHANGING, data: {} })
  const alert = page.getByRole('alert').filter({ hasText: 'was deleted' })
  await expect(alert).toBeVisible()
  await compared(page)
  await alert.getByRole('button', { name: 'Restore' }).click()
  await expect(alert).toBeHidden()

  await test.step('a side that was deleted before is restored too', async () => {
    await request.delete(`/api/trajectories/${key}`, { headers: CHANGING, data: {} })
    await reload(page)
    await alert.getByRole('button', { name: 'Restore' }).click()
    await compared(page)
  })
})
