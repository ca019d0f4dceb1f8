/** The mask doctor: a template's mask four ways, and a run's own against its template. */
import { expect, test } from '@playwright/test'
import { ask, greedy, open, shownKey } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'

test('a template with a generation block: a click leads to the tokens that the others train beyond it', async ({
  page,
}) => {
  await open(page)
  await page.goto('/templates?tab=masks&from=sample:generation-block')
  await page.locator('[data-masks="current"]').waitFor()
  await expect(page.locator('[data-way="generation"][data-severity]')).toHaveAttribute('data-severity', 'none')
  await expect(page.locator('[data-way="tito"]')).toHaveAttribute('data-severity', 'missing')
  await expect(page.locator('li[data-way="prefix"]')).toHaveAttribute('data-lint', 'after-end-trained')
  await page.getByRole('list', { name: 'Disagreements' }).getByRole('button').first().click()
  await expect(page).toHaveURL(/[?&]at=\d+/)
  const token = page.getByRole('region', { name: 'Token', exact: true })
  await expect(token).toContainText('generation: not trained')
  await expect(token).toContainText('prefix: trained')
  await page.getByRole('grid').focus()
  await page.keyboard.press('ArrowLeft')
  await expect(token).toContainText('generation: trained')
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/[?&]at=/)
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('a run is the truth that its template is held against', async ({ page }) => {
      const wrongs = watch(page)
      await open(page)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Setup' }).click()
      await greedy(page)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Tokens' }).click()
      await ask(page, 'What is 25 * 17, and then plus 9?')
      await page.goto(`/templates?tab=masks&t=${await shownKey(page)}`)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Result', exact: true }).click()
      await page.locator('[data-masks="current"]').waitFor()
      await expect(page.locator('[data-way="tito"]')).toHaveAttribute('data-severity', 'none')
      await expect(page.locator('[data-way="generation"][data-trained]')).toHaveAttribute('data-trained', '0')
      await expectFit(page)
      expect(wrongs).toEqual([])
    })
  })
