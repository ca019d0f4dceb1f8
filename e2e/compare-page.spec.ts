/** The compare page as its readers use it: sides, address, keys, entry points, and what is said when a side cannot be made. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { retokenizeAnswerSchema } from '#lib/server/retokenize.ts'
import { AUTHORIZED, CHANGING, open } from './application.ts'

const compared = (page: Page) => page.locator('[data-compare="done"]').waitFor()
const summary = (page: Page) => page.getByRole('region', { name: 'Summary' })
const card = (page: Page) => page.getByRole('region', { name: 'Drift span' })

test('by keyboard alone: choose an example, walk its drift, and the address restores it', async ({ page }) => {
  await open(page, '/compare')
  await page.getByRole('searchbox').focus()
  const example = page.getByRole('button', { name: /Sampled ids that their text does not give back.*Temperature 1/s })
  await example.focus()
  await page.keyboard.press('Enter')
  await compared(page)
  await expect(page).toHaveURL(/left=example/)
  const count = Number(await summary(page).getAttribute('data-drift'))
  expect(count).toBeGreaterThan(2)

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

  const restored = await page.context().newPage()
  await restored.goto(page.url())
  await compared(restored)
  await expect(card(restored)).toHaveAttribute('data-drift', '0')
  await expect(restored.getByRole('grid')).toHaveAttribute('data-arrangement', 'unified')
  await restored.close()

  await page.getByRole('grid').focus()
  await page.keyboard.press('s')
  await expect(page).toHaveURL(/left=[^&]*~structured/)
  await compared(page)
  await expect(page.getByRole('grid')).toBeFocused()
  await expect(summary(page)).toHaveAttribute('data-drift', String(count))
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command' }).fill('right text')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/right=[^&]*~text/)
  await compared(page)
})

test('the list: filtered, walked with the arrows; a kind in the summary leads to its next', async ({ page }) => {
  await open(page, '/compare?left=example:retokenization-drift&right=example:retokenization-drift~structured')
  await compared(page)
  const list = page.getByRole('listbox', { name: 'Drift spans' })
  await page.getByLabel('Kind', { exact: true }).selectOption('split')
  const rows = list.getByRole('option')
  await expect(rows).toHaveCount(3)
  await list.focus()
  await page.keyboard.press('End')
  await expect(rows.nth(2)).toHaveAttribute('aria-selected', 'true')
  await expect(card(page)).toHaveAttribute('data-drift', '2')
  await page.keyboard.press('Escape')
  await expect(card(page)).toHaveCount(0)
  await summary(page).getByRole('button', { name: /split/ }).click()
  await expect(card(page)).toHaveAttribute('data-drift', '0')
  // The address is written a moment later, and would take the page back.
  await expect(page).toHaveURL(/drift=0/)
  await card(page).getByRole('link', { name: 'Show in the inspector' }).click()
  await expect(page).toHaveURL(/\/example\/retokenization-drift\?at=\d+-\d+/)
})

test('no drift is said with what was compared; a tokenizer that cannot be had leads to the choice of another', async ({
  page,
}) => {
  await open(page, '/compare?left=example:two-steps&right=example:two-steps~text')
  await compared(page)
  await expect(summary(page)).toContainText(/No drift.*All \d+ tokens of the left are the same ids on the right/)
  await page.getByRole('button', { name: /^Right side: tokenizer/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('no/such')
  await dialog.getByRole('button', { name: 'Make the side' }).click()
  await expect(dialog.getByRole('alert')).toContainText('no/such')
  await page.keyboard.press('Escape')

  await page.goto('/compare?left=no-such-key')
  await expect(page.getByText('there is no such trajectory: "no-such-key"')).toBeVisible()

  await page.goto('/compare?left=example:two-steps&right=example:two-steps~text~tokenizer=no/such')
  await page.getByRole('button', { name: 'Tokenizer of the right side …' }).click()
  await dialog.getByRole('button', { name: 'built-in', exact: true }).first().click()
  await dialog.getByRole('button', { name: 'Make the side' }).click()
  await compared(page)
  await expect(page).toHaveURL(/tokenizer=built-in/)
})

test('one step from the inspector, from the drift it found, and from two chosen in the library', async ({
  page,
  request,
}) => {
  await open(page, '/example/retokenization-drift')
  await page.getByRole('button', { name: 'Compare with retokenized' }).click()
  await compared(page)
  await page.goBack()
  await page.getByRole('button', { name: /drift 3 spans/ }).click()
  await page.getByRole('button', { name: 'See in compare' }).click()
  await compared(page)
  await expect(summary(page)).toHaveAttribute('data-drift', '3')

  for (const name of ['retokenization-drift', 'two-steps'])
    await request.post(`/api/import?name=compare-${name}.json`, {
      headers: { ...AUTHORIZED, 'x-rollscope': '1', 'content-type': 'application/octet-stream' },
      data: readFileSync(`public/examples/${name}.json`),
    })
  await page.goto('/library')
  await page.locator('[data-library="idle"]').waitFor()
  // Others may have stored the same examples.
  for (const title of ['Sampled ids that their text does not give back', 'Two calls, one after the other'])
    await page
      .getByRole('checkbox', { name: `Choose ${title}` })
      .first()
      .check()
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await compared(page)
  await expect(summary(page)).not.toHaveAttribute('data-drift', '0')
})

test('a side that was made is exported like any other', async ({ page }) => {
  await open(page, '/compare?left=example:retokenization-drift')
  await compared(page)
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Right', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export as Rollscope' }).click()
  const file = await (await downloading).path()
  expect(JSON.parse(readFileSync(file, 'utf8')).provenance).toMatchObject({ kind: 'retokenized', mode: 'structured' })
})

test('the chat baseline: what the server read beside what was sampled', async ({ page }) => {
  await open(page, '/compare?left=example:retokenization-drift')
  await compared(page)
  await page.getByLabel('Left side shown as').selectOption('Live chat baseline …')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('another run of it differs by chance')
  await dialog.getByRole('button', { name: 'Run the chat baseline' }).click()
  await expect(page).toHaveURL(/right=[^&]*~read/)
  await compared(page)
})

test('one call over HTTP: ids as they come back from their text', async ({ request }) => {
  const { segments } = JSON.parse(readFileSync('public/examples/retokenization-drift.json', 'utf8'))
  const ids: readonly number[] = segments.flatMap((segment: { readonly ids: readonly number[] }) => segment.ids)
  const response = await request.post('/api/retokenize', { headers: CHANGING, data: { ids, mode: 'text' } })
  const { firstDrift, ids: again, mask } = retokenizeAnswerSchema.parse(await response.json())
  expect({ firstDrift, before: again.slice(0, 217), mask }).toEqual({
    firstDrift: 217,
    before: ids.slice(0, 217),
    mask: null,
  })
})
