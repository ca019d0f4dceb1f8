/** The prefix doctor in the page: what is red is explained, cured, and found again in the smallest conversation. */
import { expect, type Page, test } from '@playwright/test'
import { open } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'

const examined = (page: Page) => page.locator('[data-stability="current"]').waitFor()

async function openDoctor(page: Page, query = ''): Promise<void> {
  await open(page, `/templates?tab=stability&from=sample:qwen3-like${query}`)
  if ((page.viewportSize()?.width ?? 0) < 1024) await page.getByRole('button', { name: 'Result', exact: true }).click()
  await examined(page)
}

test('a red cell is explained with its line, and its fix turns the matrix green', async ({ page }) => {
  const problems = watch(page)
  await openDoctor(page)
  const grid = page.getByRole('grid', { name: 'Prefix stability' })
  await grid.getByRole('button', { name: /thinking on · → user: unstable/ }).click()
  await expect(page).toHaveURL(/cell=user/)
  const finding = page.getByRole('region', { name: 'Finding' })
  await expect(finding.locator('[data-cause="thinking-stripped"]')).toBeVisible()
  await expect(finding.locator('[data-first]')).toHaveCount(2)
  // Every fix leaves less that is red, until nothing is.
  for (;;) {
    const red = Number(await page.locator('[data-unstable]').getAttribute('data-unstable'))
    if (red === 0) break
    await page.locator('[data-fix="found"]').getByRole('button', { name: 'Apply' }).click()
    await expect(page.locator(`[data-stability="current"] [data-unstable]:not([data-unstable="${red}"])`)).toBeVisible()
    expect(Number(await page.locator('[data-unstable]').getAttribute('data-unstable'))).toBeLessThan(red)
    const next = grid.locator('[data-verdict="unstable"]').first()
    if ((await next.count()) > 0) await next.click()
  }
  await expect(grid.locator('[data-verdict="unstable"]')).toHaveCount(0)
  expect(problems).toEqual([])
})

test('a search finds the smallest conversation, which is opened in the editor', async ({ page }) => {
  await openDoctor(page)
  const search = page.locator('[data-search]')
  await search.getByRole('button', { name: 'Search for counterexamples' }).click()
  await expect(search).toHaveAttribute('data-search', 'done')
  await expect(search).toHaveAttribute('data-found', '1')
  await search.getByRole('button', { name: 'Keep searching' }).click()
  await expect(search).toHaveAttribute('data-search', 'done')
  const messages = page.getByRole('list', { name: 'Messages', exact: true })
  await page.getByRole('button', { name: 'Messages', exact: true }).click()
  await messages.waitFor()
  const sample = await messages.textContent()
  await search.getByRole('button', { name: 'Open in the editor' }).first().click()
  await expect(messages).not.toHaveText(sample ?? '')
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('everything fits, and is usable by all', async ({ page }) => {
      await openDoctor(page)
      await page.locator('[data-fix="found"]').waitFor()
      await expectFit(page)
    })
  })
