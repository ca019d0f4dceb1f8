/** Opening: a long trajectory is shown before it is stored, whatever becomes of that; and a search that runs away. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { idle, open } from './application.ts'
import { largeTrajectory } from './large-trajectory.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-load-'))
const TOKENS = 200_000

/** Written once: every test opens it under an id of its own. */
let large: Trajectory
test.beforeAll(() => {
  large = largeTrajectory({ tokens: TOKENS })
})

function fileOf(name: string, trajectory: object = { ...large, id: name }): string {
  const file = path.join(folder, `${name}.json`)
  writeFileSync(file, encode(trajectory as Trajectory))
  return file
}

const example = (): Trajectory => JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))

async function choose(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
}

/** Holds what the page stores until it is let through. */
async function holdImports(page: Page): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/api/import*', async (route) => {
    await promise
    await route.continue()
  })
  return async () => {
    resolve()
    await page.waitForURL(/\/t\//)
  }
}

const count = (page: Page) => page.getByRole('grid').getAttribute('data-tokens')

test('200,000 tokens are shown before they are stored, and are read once', async ({ page }) => {
  await open(page, '/library')
  const store = await holdImports(page)
  const read: string[] = []
  page.on('request', (request) => {
    if (/\/api\/trajectories\/./.test(request.url())) read.push(request.url())
  })
  await choose(page, fileOf('shown-first'))
  await idle(page)
  expect(new URL(page.url()).pathname).toBe('/open')
  await expect(page.getByText('Being stored …')).toBeVisible()
  const tokens = await count(page)
  expect(Number(tokens)).toBeGreaterThanOrEqual(TOKENS)
  await page.evaluate(() => {
    const grid = document.querySelector('[role="grid"]') as HTMLElement & { mark?: string }
    grid.mark = 'the same'
  })

  await store()
  await expect(page.getByText('Being stored …')).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Labels' })).toBeVisible()
  expect(await page.evaluate(() => (document.querySelector('[role="grid"]') as { mark?: string } | null)?.mark)).toBe(
    'the same',
  )
  expect(read).toEqual([])

  await page.reload()
  await idle(page)
  expect(await count(page)).toBe(tokens)
  expect(read).toHaveLength(1)
})

test('where storing fails the view stays, says why, and is stored when that is over', async ({ page }) => {
  await open(page, '/servers')
  await page.route('**/api/import*', (route) =>
    route.fulfill({ status: 507, json: { code: 'FULL', detail: 'the disk is full', hint: 'Make room.' } }),
  )
  await choose(page, fileOf('not-stored', { ...example(), id: 'not-stored' }))
  await idle(page)
  const alert = page.getByRole('alert').filter({ hasText: 'not stored' })
  await expect(alert).toContainText('the disk is full')
  await expect(alert).toContainText('Make room.')
  await expect(page.getByRole('grid')).toBeVisible()
  await page.unroute('**/api/import*')
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL('**/t/not-stored')
  await expect(alert).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Open in the template lab' })).toBeVisible()
})

test('a second file follows the first, a bad one changes nothing, and Back leads to each', async ({ page }) => {
  await open(page, '/library')
  await choose(page, fileOf('first', { ...example(), id: 'first' }))
  await page.waitForURL('**/t/first')
  await idle(page)
  const bad = path.join(folder, 'bad.json')
  writeFileSync(bad, '{"hello": 1}')
  await choose(page, bad)
  await expect(page.getByRole('alert').filter({ hasText: 'bad.json' })).toBeVisible()
  await expect(page.getByRole('grid')).toBeVisible()
  expect(new URL(page.url()).pathname).toBe('/t/first')

  const { segments, ...rest } = example()
  await choose(page, fileOf('second', { ...rest, id: 'second', segments: segments.slice(0, 2) }))
  await page.waitForURL('**/t/second')
  await idle(page)
  const second = await count(page)
  await page.goBack()
  await page.waitForURL('**/t/first')
  await expect(page.locator(`[data-idle="true"]:not([data-tokens="${second}"])`)).toBeVisible()
  await page.goBack()
  await page.waitForURL('**/library')
  await expect(page.getByRole('searchbox', { name: 'Search' })).toBeVisible()
  await page.goForward()
  await page.goForward()
  await page.waitForURL('**/t/second')
  await expect(page.locator(`[data-idle="true"][data-tokens="${second}"]`)).toBeVisible()
})

test('a file that was never stored is not there any more after a reload', async ({ page }) => {
  await open(page, '/open')
  await expect(page.getByRole('alert').filter({ hasText: 'No file is open here' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Open', exact: true })).toBeEnabled()
})

test('a regular expression that runs away costs itself alone', async ({ page }) => {
  await open(page)
  await choose(page, fileOf('runaway'))
  await idle(page)
  await page.getByLabel('Find', { exact: true }).fill('/(\\w+\\s?)+~~$/')
  await expect(page.locator('[data-find-state="searching"]')).toBeVisible()
  // The page answers: a token is chosen while it is looked for.
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  await page.waitForURL(/[?&]at=/)
  await expect(page.locator('[data-find-state="failed"]')).toBeVisible()
  await page.getByLabel('Find', { exact: true }).fill('read_file')
  await expect(page.locator('[data-find-state="done"]:not([data-hits="0"])')).toBeVisible()
})
