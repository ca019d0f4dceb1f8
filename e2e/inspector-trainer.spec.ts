/** What the trainer gets: the arrays of each export format beside their tokens. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { idle, open } from './application.ts'
import { expectFit, WINDOWS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const table = (page: Page) => page.getByRole('grid', { name: 'Arrays beside their tokens' })
const shownFormat = (page: Page, name: string) => page.locator(`[data-format="${name}"][data-idle="true"]`).waitFor()
const row = (page: Page, token: number) => table(page).locator(`[data-token="${token}"]`)

const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8')) as {
  readonly segments: readonly { readonly kind: string; readonly ids: readonly number[] }[]
}
const PROMPT = example.segments[0]?.ids.length ?? 0

test('the arrays are those of the file, and begin where the format begins them', async ({ page }) => {
  await open(page, '/example/two-steps?tab=trainer')
  await shownFormat(page, 'strands-sglang')
  await page.getByRole('button', { name: 'slime' }).click()
  await shownFormat(page, 'slime')
  expect(new URL(page.url()).searchParams.get('format')).toBe('slime')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the file' }).click()
  const file = await download
  const sample = JSON.parse(readFileSync(await file.path(), 'utf8'))
  expect(sample.tokens).toEqual(example.segments.flatMap(({ ids }) => ids))

  await expect(page.getByRole('list', { name: 'Cuts' })).toContainText(`Cut before ${PROMPT}`)
  await page.getByRole('list', { name: 'Cuts' }).getByRole('button').click()
  await expect(row(page, PROMPT)).toHaveAttribute('aria-selected', 'true')
  await expect(row(page, PROMPT)).toContainText('loss_mask, rollout_log_probs begin; first trained of segment 1')
  await expect(row(page, PROMPT).getByRole('gridcell').nth(-2)).toHaveAttribute(
    'title',
    String(sample.rollout_log_probs[0]),
  )
  await expect(
    row(page, PROMPT - 1)
      .getByRole('gridcell')
      .nth(-2),
  ).toHaveText('·')

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy loss_mask as Python' }).click()
  await expect(page.getByText('loss_mask copied')).toBeVisible()
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(sample.loss_mask)
})

test('a row chooses its token, and edges and cuts stay on the tokens', async ({ page }) => {
  await open(page, '/example/two-steps?tab=trainer&format=slime&at=200')
  await shownFormat(page, 'slime')
  await expect(row(page, 200)).toBeInViewport()
  await row(page, 201).click()
  await table(page).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.waitForURL((url) => url.searchParams.get('at') === '201-202')
  await page.getByLabel('Show on tokens').check()
  await page.keyboard.press('Tab')
  await page.getByRole('tab', { name: 'Tokens' }).click()
  await idle(page)
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
  await page.getByRole('tab', { name: 'Trainer' }).click()
  await shownFormat(page, 'slime')
  await expect(page.getByLabel('Show on tokens')).toBeChecked()
})

test('200,000 tokens: drawn are those in sight, and the last one can be reached', async ({ page }) => {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'rollscope-trainer-')), 'large.json')
  writeFileSync(file, encode({ ...largeTrajectory({ tokens: 200_000 }), id: 'trainer-200k' }))
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
  await idle(page)
  await page.getByRole('tab', { name: 'Trainer' }).click()
  await shownFormat(page, 'strands-sglang')
  const count = Number(await table(page).getAttribute('data-rows'))
  expect(count).toBeGreaterThanOrEqual(200_000)
  await table(page).focus()
  await page.keyboard.press('End')
  await expect(row(page, count - 1)).toBeInViewport()
  await expect(row(page, count - 1)).toHaveAttribute('aria-selected', 'true')
  await page.getByRole('button', { name: 'Rollscope', exact: true }).click()
  await shownFormat(page, 'rollscope')
  await expect(page.locator('[data-field="segments[].columns.trainerLogprobs"]')).toBeVisible()
  expect(await page.locator('[data-format] *').count()).toBeLessThan(2_000)
})

test('fits every window', async ({ page }) => {
  const wrongs = watch(page)
  for (const size of WINDOWS) {
    await page.setViewportSize(size)
    await open(page, '/example/two-steps?tab=trainer&format=rollscope&at=192')
    await shownFormat(page, 'rollscope')
    await expectFit(page)
  }
  expect(wrongs).toEqual([])
})
