/** Pages in a contrast theme, in which browsers replace the colours of backgrounds. */
import { expect, type Locator, test } from '@playwright/test'
import { idle, open } from '../support/application.ts'

/** Returns the colour of an element, or of a part of it such as the value of a progress. */
const background = (element: Locator, part?: string): Promise<string> =>
  element.evaluate((found, part) => getComputedStyle(found, part).backgroundColor, part)

test('Bars and progress, which consist of a background alone, are visible in a contrast theme', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await open(page, '/example/two-steps?tab=charts')
  const ground = await background(page.locator('body'))
  const bar = page
    .getByRole('button', { name: /^surprisal .* [1-9]/ })
    .first()
    .locator('span')
  await expect.poll(() => background(bar)).not.toBe(ground)
  await page.goto('/example/two-steps?tab=requests')
  const phase = page.locator('[data-request="1"]').getByRole('img').locator('span').last()
  await expect.poll(() => background(phase)).not.toBe(ground)
  await page.goto('/example/retokenization-drift?at=300')
  await idle(page)
  const share = page.getByRole('meter').first()
  expect(await background(share, '::-webkit-meter-optimum-value')).not.toBe(ground)
  await page.evaluate(() => document.body.append(document.createElement('progress')))
  expect(await background(page.locator('body > progress'), '::-webkit-progress-value')).not.toBe(ground)
})
