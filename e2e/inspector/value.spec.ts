/** From a failed rollout to the token that was the mistake, with the built-in server. */
import { expect, type Locator, test } from '@playwright/test'
import { CHANGING, idle, open } from '../support/application.ts'
import { expectFitEverywhere } from '../support/fit.ts'

test('From a failed rollout to the token that was the mistake, with its evidence, by keyboard alone', async ({
  page,
  request,
}, { annotations }) => {
  test.setTimeout(240_000)
  const failed = await failedSample()
  await open(page, `/t/${failed}`)
  await idle(page)
  const beginning = performance.now()
  const { keyboard } = page
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await keyboard.press('v')
  const panel = page.getByRole('region', { name: 'Value', exact: true })
  const start = panel.getByRole('button', { name: 'Estimate the value' })
  await expect(start).toBeFocused()
  await expect(panel).toContainText('No value yet')
  // The rule is that of the group.
  await expect(panel.getByLabel('Expected')).toHaveValue('425')
  await expect(panel.locator('[data-value-cost]')).toContainText('10 tokens × 8 samples')
  await expectInside(panel.locator('..'), start)
  await keyboard.press('Enter')
  await expect(panel.getByRole('button', { name: /^Cancel, \d+ of 80$/ })).toBeVisible()
  const drop = panel.locator('[data-value-cliff]').getByRole('button')
  await expect(drop).toBeVisible({ timeout: 90_000 })
  const narrow = panel.getByRole('button', { name: /^Narrow it down/ })
  if (await narrow.isVisible()) {
    await tabTo(narrow)
    await keyboard.press('Enter')
    await expect(start).toBeFocused()
    await expectInside(panel.locator('..'), start)
    await keyboard.press('Enter')
  }
  const mistake = drop.filter({ hasText: 'at token' })
  await expect(mistake).toBeVisible({ timeout: 90_000 })
  await expect(panel.locator('[data-value-cliff]')).toContainText(/→ .*, p = .* after Holm’s correction/)
  await tabTo(mistake)
  await keyboard.press('Enter')
  const cliff = await panel.locator('[data-value-cliff]').getAttribute('data-value-cliff')
  await expect(page).toHaveURL(new RegExp(`[?&]at=${cliff}(&|$)`))
  annotations.push({ type: 'seconds', description: ((performance.now() - beginning) / 1000).toFixed(1) })
  await expectFitEverywhere(page)
  // The window is narrow since that check, and every field and the button fit into it.
  await panel.getByRole('button', { name: 'New estimate…' }).press('Enter')
  await expect(start).toBeFocused()
  for (const field of await panel.getByRole('form').locator('input, select, button[type="submit"]').all())
    await expectInside(panel.locator('..'), field)

  /** Presses Tab until an element has the focus. */
  async function tabTo(element: Locator): Promise<void> {
    const isFocused = () => element.evaluate((found) => found === document.activeElement)
    for (let presses = 0; presses < 12 && !(await isFocused()); presses++) await keyboard.press('Tab')
    await expect(element).toBeFocused()
  }

  /** Checks that nothing cuts off an element in the scrolled box around it. */
  async function expectInside(box: Locator, element: Locator): Promise<void> {
    const [outer, inner] = [await box.boundingBox(), await element.boundingBox()]
    if (!outer || !inner) throw new Error('both elements are visible')
    expect(inner.y).toBeGreaterThanOrEqual(outer.y)
    expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height)
  }

  /** Returns the key of a sample that did not give the expected answer. */
  async function failedSample(): Promise<string> {
    for (let seed = 3; ; seed += 100) {
      const body = {
        prompt: 'What is 25 * 17?',
        tools: ['calculator'],
        samples: 24,
        sampling: { temperature: 1, max_new_tokens: 120, sampling_seed: seed },
        reward: { kind: 'number', expected: 425 },
      }
      const { groupId } = await (await request.post('/api/groups', { headers: CHANGING, data: body })).json()
      await request.get(`/api/groups/${groupId}/events`, { headers: CHANGING })
      const { samples } = await (await request.get(`/api/groups/${groupId}`, { headers: CHANGING })).json()
      const found = samples.find(({ reward }: { readonly reward: number | null }) => reward === 0)
      if (found) return found.key
    }
  }
})
