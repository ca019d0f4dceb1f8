/** The Trainer tab: the arrays of each export format beside their tokens. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { idle, open } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'

const table = (page: Page) => page.getByRole('grid', { name: 'Arrays and their tokens' })
const shownFormat = (page: Page, name: string) => page.locator(`[data-format="${name}"][data-idle="true"]`).waitFor()
const row = (page: Page, token: number) => table(page).locator(`[data-token="${token}"]`)

const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8')) as {
  readonly segments: readonly { readonly kind: string; readonly ids: readonly number[] }[]
}
const PROMPT = example.segments[0]?.ids.length ?? 0

// load.spec.ts scrolls a long trajectory to its last row.
test('The Trainer tab shows the arrays of the downloaded file, keeps its selection, and fits both windows', async ({
  page,
}) => {
  const wrongs = watch(page)
  await open(page, '/example/two-steps?tab=trainer&at=200')
  await shownFormat(page, 'strands-sglang')
  await page.getByRole('button', { name: 'slime' }).click()
  await shownFormat(page, 'slime')
  await expect(row(page, 200)).toBeInViewport()
  await page.waitForURL((url) => url.searchParams.get('format') === 'slime')

  await test.step('the rows have the values of the downloaded file, beginning at the cut of the format', async () => {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the file' }).click()
    const sample = JSON.parse(readFileSync(await (await download).path(), 'utf8'))
    expect(sample.tokens).toEqual(example.segments.flatMap(({ ids }) => ids))
    const cuts = page.getByRole('list', { name: 'Cuts' })
    await expect(cuts).toContainText(`Cut before ${PROMPT}`)
    await cuts.getByRole('button').click()
    await expect(row(page, PROMPT)).toBeInViewport()
    await expect(row(page, PROMPT)).toHaveAttribute('aria-selected', 'true')
    await expect(row(page, PROMPT)).toContainText('loss_mask, rollout_log_probs begin; first trained of segment 1')
    const logprob = (token: number) => row(page, token).getByRole('gridcell').nth(-2)
    await expect(logprob(PROMPT)).toHaveAttribute('title', String(sample.rollout_log_probs[0]))
    await expect(logprob(PROMPT - 1)).toHaveText('·')

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy loss_mask as Python' }).click()
    await expect(page.getByText('loss_mask copied')).toBeVisible()
    expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(sample.loss_mask)
  })

  await test.step('a range of rows becomes the page’s selection, and another tab keeps the settings', async () => {
    await row(page, PROMPT + 1).click()
    await table(page).focus()
    await page.keyboard.press('Shift+ArrowDown')
    await page.waitForURL((url) => url.searchParams.get('at') === `${PROMPT + 1}-${PROMPT + 2}`)
    await page.getByLabel('Show on tokens').check()
    await page.getByRole('tab', { name: 'Tokens' }).click()
    await idle(page)
    await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
    await page.getByRole('tab', { name: 'Trainer' }).click()
    await shownFormat(page, 'slime')
    await expect(page.getByLabel('Show on tokens')).toBeChecked()
  })

  await page.getByRole('button', { name: 'Rollscope', exact: true }).click()
  await expectFitEverywhere(page, () => shownFormat(page, 'rollscope'))
  expect(wrongs).toEqual([])
})
