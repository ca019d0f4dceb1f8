/** From a failed rollout to the token that was the mistake, with the built-in server. */
import { expect, test } from '@playwright/test'
import { CHANGING, idle, open } from '../support/application.ts'
import { expectFitEverywhere } from '../support/fit.ts'

test('The value of tokens finds the mistake of a failed rollout by keyboard, and the drop is narrowed down to one token', async ({
  page,
  request,
}) => {
  test.setTimeout(240_000)
  const failed = await failedSample()
  await open(page, `/t/${failed}`)
  await idle(page)
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('v')
  const panel = page.getByRole('region', { name: 'Value', exact: true })
  await expect(panel).toContainText('No value yet')
  // The rule is that of the group.
  await expect(panel.getByLabel('Expected')).toHaveValue('425')
  await expect(panel.locator('[data-value-cost]')).toContainText('10 tokens × 8 samples')
  await panel.getByLabel('Tokens', { exact: true }).press('Enter')
  await expect(panel.getByRole('button', { name: /^Cancel, \d+ of 80$/ })).toBeVisible()
  await expect(panel.locator('[data-value-cliff]')).toBeVisible({ timeout: 90_000 })
  await expectFitEverywhere(page)
  await panel.getByRole('button', { name: /^Narrow it down/ }).press('Enter')
  await panel.getByLabel('Samples at each token').fill('6')
  await panel.getByRole('button', { name: 'Estimate the value' }).press('Enter')
  const drop = panel.locator('[data-value-cliff]').getByRole('button', { name: /at token/ })
  await expect(drop).toBeVisible({ timeout: 90_000 })
  await drop.press('Enter')
  const cliff = await panel.locator('[data-value-cliff]').getAttribute('data-value-cliff')
  // The window is narrow since its check, and shows no card.
  await expect(page).toHaveURL(new RegExp(`[?&]at=${cliff}(&|$)`))

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
