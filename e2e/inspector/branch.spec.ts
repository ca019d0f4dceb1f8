/** Branches from the inspector, with the built-in server. */
import { expect, test } from '@playwright/test'
import { CHANGING, idle, open } from '../support/application.ts'
import { WINDOWS } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

test('A token is branched by keyboard: a text is inserted, the branches are listed with links, and a branch names its origin', {
  tag: CORE,
}, async ({ page, request }) => {
  const sampling = { temperature: 0, max_new_tokens: 60 }
  const body = { prompt: 'What is 25 * 17?', tools: ['calculator'], sampling, detached: true }
  const started = await (await request.post('/api/rollouts', { headers: CHANGING, data: body })).json()
  await request.get(`/api/rollouts/${started.rolloutId}/events`, { headers: CHANGING })
  const stored = await (await request.get(`/api/trajectories/${started.trajectoryId}`, { headers: CHANGING })).json()
  const at = stored.segments[0].ids.length + 12
  await open(page, `/t/${started.trajectoryId}?at=${at}`)
  await idle(page)
  const panel = page.getByRole('region', { name: 'Branch', exact: true })
  await expect(panel).toBeVisible()
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('B')
  await expect(panel.getByLabel('Sample again')).toBeFocused()
  const [wide, narrow] = WINDOWS
  await page.setViewportSize(narrow)
  await page.getByRole('button', { name: 'Tokens', exact: true }).press('Enter')
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('B')
  await expect(panel.getByLabel('Sample again')).toBeFocused()
  await page.setViewportSize(wide)
  await panel.getByLabel('Insert a text').press('Space')
  await panel.getByLabel('Text', { exact: true }).fill('12 + ')
  await panel.getByLabel('Branches').fill('2')
  await panel.getByLabel('Branches').press('Enter')
  await expect(page.locator('[data-branches-running="false"]')).toContainText(`${at} tokens are shared`)
  const list = page.getByRole('region', { name: 'Branches', exact: true })
  await expect(list.getByRole('link')).toHaveCount(3)
  await list.getByRole('link').nth(1).click()
  await expect(page.getByRole('region', { name: 'Fork' })).toContainText('text or ids were inserted')
  await open(page, `${new URL(page.url()).pathname}?at=${at}`)
  await expect(page.getByRole('region', { name: 'Token', exact: true })).toContainText('0 · forced')
  // The position in front of the conversation belongs to a prompt, whose message can be edited.
  await open(page, `/t/${started.trajectoryId}?at=1`)
  await expect(panel.getByRole('heading', { name: 'Edit and continue' })).toBeVisible()
  await panel.getByLabel('Text of the user message').fill('What is 7 + 8?')
  await panel.getByRole('button', { name: 'Edit and continue' }).press('Enter')
  await expect(list.getByRole('link')).toHaveCount(4)
  await expect(page.locator('[data-branches-running="false"]')).toBeVisible()
  await expect(list.getByRole('link', { name: /another message/ })).toBeVisible()
})
