/** Samples of one prompt: shown side by side, rewarded, stopped, and found again. */
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, open, reload } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, ZOOMED } from '../support/fit.ts'
import { startSlowServer } from '../support/slow-server.ts'
import { CORE } from '../support/tags.ts'

async function send(page: Page, samples: number, question: string): Promise<void> {
  await page.getByLabel('Samples', { exact: true }).fill(String(samples))
  await page.getByLabel('Question').fill(question)
  await page.getByRole('button', { name: /Send/ }).click()
}

/** Runs a group to its end; returns its id and the keys of its samples. */
async function runGroup(request: APIRequestContext, samples: number) {
  const body = { prompt: 'What is 2 + 2?', samples, sampling: { max_new_tokens: 1 } }
  const started = await (await request.post('/api/groups', { headers: CHANGING, data: body })).json()
  await request.get(`/api/groups/${started.groupId}/events`, { headers: AUTHORIZED })
  const keys = started.samples.map(({ trajectoryId }: { readonly trajectoryId: string }) => trajectoryId)
  return { groupId: started.groupId as string, keys: keys as readonly string[] }
}

const ended = (page: Page) => page.locator('[data-samples="ended"]').waitFor()

test('Three samples of a question are requested again after a failure, rewarded, stepped through, exported and compared', {
  tag: CORE,
}, async ({ page, request }) => {
  await open(page)
  const unknown = page.getByLabel('Unknown parameters, JSON')
  const samples = page.locator('[data-sample]')

  await test.step('a group whose first calls fail is requested again with as many samples', async () => {
    await page.getByRole('button', { name: 'All sampling parameters…' }).click()
    await unknown.fill('{"new_in_next": 1}')
    await page.keyboard.press('Escape')
    await send(page, 3, 'What is 12 * 7?')
    await ended(page)
    await expect(page.getByRole('textbox', { name: 'Samples' })).toHaveValue('3')
    await page.getByRole('button', { name: 'All sampling parameters…' }).click()
    await unknown.fill('')
    await page.keyboard.press('Escape')
  })

  await page.getByRole('button', { name: 'Reward of the answers' }).click()
  await page.getByRole('combobox', { name: 'Reward' }).selectOption('number')
  await page.getByLabel('Expected').fill('84')
  await page.keyboard.press('Escape')
  await page.getByLabel('Question').fill('What is 12 * 7?')
  await page.getByRole('button', { name: /Send/ }).click()
  // The failed samples belonged to a group without a rule, so they have no reward.
  await expect(page.locator('[data-samples="ended"] [data-sample][data-reward]')).toHaveCount(3)
  const group = new URL(page.url()).searchParams.get('group') as string
  const groupAnswer = await (await request.get(`/api/groups/${group}`, { headers: AUTHORIZED })).json()
  for (const [index, { reward, tokens }] of groupAnswer.samples.entries()) {
    await expect(samples.nth(index)).toHaveAttribute('data-reward', String(reward))
    await expect(samples.nth(index)).toContainText(`${tokens} tok`)
  }

  await test.step('arrow keys step through the samples, and the address follows', async () => {
    await samples.first().click()
    await page.keyboard.press('ArrowRight')
    await expect(samples.nth(1)).toHaveAttribute('aria-selected', 'true')
    await expect(page).toHaveURL(new RegExp(groupAnswer.samples[1].key))
    await expect(page.locator('[data-tokens]')).toHaveAttribute('data-tokens', String(groupAnswer.samples[1].tokens))
  })

  await test.step('at a zoom of 200 % the tokens have room below the samples', async () => {
    await page.setViewportSize(ZOOMED)
    const grid = page.getByRole('grid', { name: 'Tokens' })
    await expect.poll(() => grid.evaluate((view) => view.clientHeight)).toBeGreaterThan(100)
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('another rule rewards all samples again', async () => {
    await page.getByRole('button', { name: 'Reward of the group' }).click()
    await page.getByLabel('Expected').fill('85')
    const apply = page.getByRole('button', { name: 'Reward all samples' })
    await apply.click()
    await expect(samples.first()).toHaveAttribute('data-reward', '0')
    await expect(apply).toBeHidden()
  })

  await test.step('all samples are exported as one file', async () => {
    await page.getByRole('button', { name: 'Export…' }).click()
    const download = page.waitForEvent('download')
    await page
      .getByRole('button', { name: /^Export as/ })
      .first()
      .click()
    expect((await download).suggestedFilename()).toContain('3')
  })

  await page.getByRole('button', { name: 'Compare with another sample' }).click()
  await expect(page.getByRole('link', { name: 'Compare with sample 3' })).toHaveAttribute(
    'href',
    new RegExp(`/compare\\?left=${groupAnswer.samples[1].key}&right=${groupAnswer.samples[2].key}`),
  )
})

test('A group of samples is followed after a reload; one sample is stopped, then all', async ({ page, request }) => {
  const slow = await startSlowServer(300)
  await request.delete('/api/servers/slow', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'slow', baseUrl: slow.baseUrl } })
  await open(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('slow')
  await send(page, 3, 'What is 25 * 17, and then plus 9?')
  await page.locator('[data-state="writing"]').nth(1).waitFor()
  await reload(page)
  await page.locator('[data-state="writing"][data-sample="1"]').click()
  await page.getByRole('button', { name: 'Stop this' }).click()
  await expect(page.locator('[data-sample="1"]')).toHaveAttribute('data-state', 'ended')
  await expect(page.locator('[data-sample="1"]')).toContainText('cancelled')
  // The sample continues by itself while the others run; after other samples and a reload it can still be stopped.
  await page.getByLabel('Next turn').fill('And then?')
  await page.getByRole('button', { name: /Send/ }).click()
  const stop = page.getByRole('button', { name: 'Stop', exact: true })
  await stop.waitFor()
  await page.locator('[data-sample="2"]').click()
  await page.locator('[data-sample="1"]').click()
  await stop.waitFor()
  await reload(page)
  await page.locator('[data-state="writing"]').first().waitFor()
  await stop.click()
  await stop.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Stop all' }).click()
  await ended(page)
  await expect(page.getByRole('button', { name: 'Stop all' })).toHaveCount(0)
  // A further turn continues the shown sample.
  await page.getByLabel('max_new_tokens').fill('5')
  await page.getByLabel('Next turn').fill('And now?')
  await page.getByRole('button', { name: /Send/ }).click()
  await expect(page.locator('[data-sample="1"]')).toContainText('length')
  await expect(page.locator('[data-sample][aria-selected="true"]')).toHaveAttribute('data-sample', '1')
  await expect(page.locator('[data-sample="2"]')).toContainText('cancelled')
  await slow.close()
})

test('Many samples are drawn in rows that fit both windows, and are linked from the library and from each other', async ({
  page,
  request,
}) => {
  const { groupId, keys } = await runGroup(request, 17)
  // The address of a group without a sample shows its first sample.
  await open(page, `/?group=${groupId}`)
  await ended(page)
  const selected = page.locator('[data-sample][aria-selected="true"]')
  await expect(selected).toHaveAttribute('data-sample', '0')
  await expect(page).toHaveURL(new RegExp(`t=${keys[0]}`))
  await expect(page.getByPlaceholder('Next turn, same tokens')).toHaveValue('')
  await page.locator('[data-sample="1"]').click()
  await expect(selected).toHaveAttribute('data-sample', '1')
  for (const index of [0, 16]) await expect(page.locator(`[data-sample="${index}"]`)).toBeInViewport({ ratio: 1 })
  await selected.focus()
  await page.keyboard.press('End')
  await expect(page.getByRole('option', { name: '17 length' })).toHaveAttribute('aria-selected', 'true')
  await expectFitEverywhere(page, undefined, '[data-samples]')

  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('region', { name: 'Samples' }).getByRole('link', { name: 'Library' }).click()
  await expect(page.locator('tr[data-key]')).toHaveCount(17)
  await page.locator(`tr[data-key="${keys[0]}"] a[data-title]`).click()
  await expect(page.getByText('Sample 1 of 17')).toBeVisible()
  await page.getByRole('link', { name: 'next →' }).click()
  await expect(page.getByText('Sample 2 of 17')).toBeVisible()
  await page.goBack()
  await expect(page.getByText('Sample 1 of 17')).toBeVisible()
  await page.goBack()
  await expect(page.locator('tr[data-key]')).toHaveCount(17)
  await page.getByRole('link', { name: 'sample 2', exact: true }).click()
  await expect(selected).toHaveAttribute('data-sample', '1')
})

test('The tokens of a sample wait for the samples above them, so that they do not move', async ({ page, request }) => {
  const { keys } = await runGroup(request, 2)
  const released = Promise.withResolvers<void>()
  await page.route('**/api/groups/*', async (route) => {
    await released.promise
    await route.continue()
  })
  await open(page, `/?t=${keys[1]}`)
  await expect(page.getByRole('heading', { name: 'This run' })).toBeVisible()
  await expect(page.getByText('Waiting for the first tokens…')).toBeVisible()
  const tops = await page.evaluateHandle(() => {
    const seen = new Set<number>()
    const look = () => {
      const grid = document.querySelector('[role=grid]')
      if (grid) seen.add(grid.getBoundingClientRect().top)
      requestAnimationFrame(look)
    }
    look()
    return seen
  })
  released.resolve()
  await ended(page)
  await page.locator('[data-idle="true"]').waitFor()
  expect(await tops.evaluate((seen) => seen.size)).toBe(1)
})
