/** Health: the strip with its findings, the library's marks, and a trajectory that is verified on the built-in server. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { open, postImport } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS } from '../support/fit.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests change the parsed file freely
type File = any

/** Stores a changed example under another id. */
async function store(request: APIRequestContext, example: string, change: (file: File) => void): Promise<string> {
  const file: File = JSON.parse(readFileSync(`public/examples/${example}.json`, 'utf8'))
  file.id = `health-${randomUUID().slice(0, 8)}`
  change(file)
  await postImport(request, file)
  return file.id
}

const strip = (page: Page) => page.getByRole('region', { name: 'Health' })
const panel = (page: Page) => page.getByRole('region', { name: 'Verify on server' })
const selected = (page: Page) => expect.poll(() => new URL(page.url()).searchParams.get('at'))

test('Health counts drift spans and shows each one, and the trajectory is verified on the built-in server', async ({
  page,
}) => {
  await open(page, '/example/retokenization-drift')
  await page.locator('[data-health="done"]').waitFor()
  await page.locator('[data-drift="done"]').waitFor()
  await expect(strip(page).getByRole('status')).toHaveText('no findings · 11 checks')
  await expect(page.getByText('3 spans', { exact: true })).toBeVisible()
  const chip = strip(page).getByRole('button', { name: 'drift 3 spans' })
  await chip.click()
  await selected(page).toBe('217-218')
  await expect(strip(page)).toContainText('Every span contains trained tokens.')
  await chip.press('Enter')
  await selected(page).toBe('243-244')
  await strip(page).getByRole('button', { name: 'Previous place' }).click()
  await selected(page).toBe('217-218')

  await panel(page).getByRole('button', { name: 'Rescore' }).click()
  await page.locator('[data-verify="scored"]').waitFor()
  const floor = Number(await panel(page).locator('[data-floor]').getAttribute('data-floor'))
  expect(floor).toBeLessThan(1e-4)
  await expect(panel(page)).toContainText('over 79 trained tokens')
  await expect(panel(page)).toContainText('tiny-qwen3, as recorded')
  await expect(panel(page)).toContainText('None: no token differs far more than the others.')
  await panel(page).getByRole('button', { name: 'Colour tokens by the scores' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('colour')).toBe('column:verified')
  await expect(page.getByLabel('More colour modes')).toHaveValue('column:verified')

  // The drift chip is open, and the scores are shown.
  await expectFitEverywhere(page)
  await page.setViewportSize(WINDOWS[0])
  await strip(page).getByRole('button', { name: 'Close' }).press('Escape')
  await expect(strip(page)).not.toContainText('Every span contains trained tokens.')
})

test('The library marks the health of its trajectories and filters by it', async ({ page, request }) => {
  const tag = `t${randomUUID().slice(0, 8)}`
  const label = (title: string) => (file: File) => {
    file.title = title
    file.tags = [tag]
  }
  await store(request, 'two-steps', label('Good'))
  await store(request, 'retokenization-drift', label('Drifting'))
  await store(request, 'tool-error', (file) => {
    label('Bad')(file)
    file.segments[1].finish = { kind: 'abort' }
  })
  await open(page, `/library?tag=${tag}`)
  const row = (title: string) => page.locator('tr[data-key]', { has: page.getByRole('link', { name: title }) })
  await expect(row('Bad')).toContainText('1 response interrupted')
  await expect(row('Drifting')).toContainText('drift 3 spans')
  await page.getByLabel('Health').selectOption('drift')
  await expect(page.locator('tr[data-key]')).toHaveCount(1)
  await expect(row('Drifting')).toBeVisible()
})
