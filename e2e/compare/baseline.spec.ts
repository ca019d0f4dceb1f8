/** The chat baseline: from the playground's settings to its drift on the compare page. */
import { expect, test } from '@playwright/test'
import { ask, greedy, open, shownKey } from '../support/application.ts'

test('A run over the chat endpoint shows what the server read: in the Requests tab and on the compare page', async ({
  page,
}) => {
  await open(page)
  await greedy(page)
  await page.getByText('More settings').click()
  await page.getByLabel('Endpoint').selectOption('chat')
  await expect(page.getByLabel('Chat template, Jinja')).toBeDisabled()
  await ask(page, 'What is 25 * 17, and then plus 9?')
  const run = page.getByRole('complementary', { name: 'Run' })
  await expect(run).toContainText('2 ✓ 0 ✗')
  await expect(run).toContainText('chat, 2 drifted')
  const key = await shownKey(page)
  // The endpoint is now part of the trajectory and cannot be changed.
  await expect(page.getByLabel('Endpoint')).toBeDisabled()

  await page.goto(`/t/${encodeURIComponent(key)}?tab=requests`)
  const requests = page.locator('[data-requests]')
  await expect(requests).toHaveAttribute('data-idle', 'true')
  await expect(requests.locator('[data-holds="true"]')).toHaveCount(3)
  // The health chips scroll within the strip.
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(requests).toHaveAttribute('data-idle', 'true')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1440, height: 900 })
  await requests.locator('[data-request="2"]').click()
  const opened = page.locator('[data-request-open="2"]')
  await expect(opened).toContainText('/v1/chat/completions')
  await expect(opened.locator('[data-read-kept]')).toBeVisible()
  await opened.getByText('cURL').click()
  await expect(opened).toContainText('$SGLANG_BASE_URL/v1/chat/completions')
  await expect(opened).not.toContainText('input_ids')

  const sides = new URLSearchParams({ left: key, right: `${key}~read` })
  await page.goto(`/compare?${sides}`)
  await page.locator('[data-compare="done"]').waitFor()
  await expect(page.locator('[data-compare="done"]')).toContainText('What the server read')
  await expect(page.locator('[data-drift]').first()).toBeAttached()
  await page.setViewportSize({ width: 390, height: 844 })
  const [first, second] = await Promise.all(
    ['Only differences', 'Unified'].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
  )
  expect((first?.x ?? 0) + (first?.width ?? 0)).toBeLessThanOrEqual(second?.x ?? 0)
})
