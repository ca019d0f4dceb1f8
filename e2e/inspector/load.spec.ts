/** Opening files in the inspector: shown before they are stored, kept if that fails, and responsive when they are long. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { idle, open, reload } from '../support/application.ts'

const example: Trajectory = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))

/** Returns a trajectory with the example's segments repeated, long enough for views that draw only the visible part. */
function longTrajectory(id: string, times: number): Trajectory {
  const text = JSON.stringify(example.segments)
  // Call ids must be unique.
  const segments = Array.from({ length: times }, (_, n) => JSON.parse(text.replaceAll('"call_', `"call_${n}_`))).flat()
  return { ...example, id, title: id, segments }
}

function fileOf(trajectory: Trajectory): string {
  const file = test.info().outputPath(`${trajectory.id}.json`)
  writeFileSync(file, encode(trajectory))
  return file
}

async function choose(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
}

/** Delays the page's imports until the returned function is called. */
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

const field = (page: Page) => page.getByLabel('Find', { exact: true })
const tokensShown = (page: Page) => page.locator('[data-idle="true"]').getAttribute('data-tokens')

test('A long file is shown before it is stored, read once, and searched and scrolled to its end', async ({ page }) => {
  const long = longTrajectory('long-file', 60)
  const count = tokenCount(long)
  await open(page, '/library')
  const store = await holdImports(page)
  const reads: string[] = []
  page.on('request', (request) => {
    if (/\/api\/trajectories\/[^/]+$/.test(request.url())) reads.push(request.url())
  })

  await test.step('the page that shows the file also shows the stored trajectory', async () => {
    await choose(page, fileOf(long))
    await idle(page)
    expect(new URL(page.url()).pathname).toBe('/open')
    await expect(page.getByText('Storing…')).toBeVisible()
    expect(await tokensShown(page)).toBe(String(count))
    const grid = await page.getByRole('grid').elementHandle()
    await store()
    await expect(page.getByText('Storing…')).toHaveCount(0)
    await expect(page.getByRole('heading', { name: 'Labels' })).toBeVisible()
    expect(await grid?.evaluate((element) => element.isConnected)).toBe(true)
    expect(reads).toEqual([])
  })

  await test.step('a reload reads the stored trajectory once', async () => {
    await reload(page)
    await idle(page)
    expect(await tokensShown(page)).toBe(String(count))
    expect(reads).toHaveLength(1)
  })

  await test.step('tens of thousands of hits are counted, and the last one is reached', async () => {
    await field(page).fill('/\\w/')
    const hits = page.locator('[data-find-state="done"]')
    await expect(hits).toHaveText(/^\d\d,\d+ hits$/)
    await page.keyboard.press('Shift+Enter')
    await expect(hits).toHaveText(/^([\d,]+) of \1$/)
  })

  await test.step('the page responds during a runaway regular expression, and the next query is searched', async () => {
    await field(page).fill('/(\\w+\\s?)+~~$/')
    await expect(page.locator('[data-find-state="searching"]')).toBeVisible()
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await page.waitForURL((url) => url.searchParams.get('at') === String(count - 1))
    await field(page).fill('index:7')
    await expect(page.locator('[data-find="index:7"] + [data-find-state="done"][data-hits="1"]')).toBeVisible()
  })

  await test.step('the Trainer tab draws only the visible rows, also at the end', async () => {
    await page.getByRole('tab', { name: 'Trainer' }).click()
    const format = page.locator('[data-format="strands-sglang"][data-idle="true"]')
    await format.waitFor()
    const table = page.getByRole('grid', { name: 'Arrays and their tokens' })
    await expect(table).toHaveAttribute('data-rows', String(count))
    await table.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('End')
    const last = table.locator(`[data-token="${count - 1}"]`)
    await expect(last).toBeInViewport()
    await expect(last).toHaveAttribute('aria-selected', 'true')
    expect(await page.locator('[data-format] *').count()).toBeLessThan(2_000)
  })
})

test('Files that cannot be stored or read keep the shown trajectory, and Back returns to each earlier file', async ({
  page,
}) => {
  await open(page, '/open')
  await expect(page.getByRole('alert').filter({ hasText: 'No file is open here' })).toBeVisible()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Library' }).click()
  const search = page.getByRole('searchbox', { name: 'Search' })
  await expect(search).toBeVisible()

  await test.step('a file that cannot be stored stays open with the reason, and is stored on another try', async () => {
    await page.route('**/api/import*', (route) =>
      route.fulfill({ status: 507, json: { code: 'FULL', detail: 'the disk is full', hint: 'Make room.' } }),
    )
    await choose(page, fileOf({ ...example, id: 'first' }))
    await idle(page)
    const alert = page.getByRole('alert').filter({ hasText: 'not stored' })
    await expect(alert).toContainText('the disk is full')
    await expect(alert).toContainText('Make room.')
    await page.unroute('**/api/import*')
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL('**/t/first')
    await expect(alert).toHaveCount(0)
    await expect(page.getByRole('link', { name: 'Open in the template lab' })).toBeVisible()
  })

  await test.step('a file that is not a trajectory changes nothing', async () => {
    const bad = test.info().outputPath('bad.json')
    writeFileSync(bad, '{"hello": 1}')
    await choose(page, bad)
    await expect(page.getByRole('alert').filter({ hasText: 'bad.json' })).toBeVisible()
    await expect(page.getByRole('grid')).toBeVisible()
    expect(new URL(page.url()).pathname).toBe('/t/first')
  })

  await test.step('Back and Forward open each file', async () => {
    await choose(page, fileOf({ ...example, id: 'second', segments: example.segments.slice(0, 2) }))
    await page.waitForURL('**/t/second')
    await idle(page)
    const second = await tokensShown(page)
    await page.goBack()
    await page.waitForURL('**/t/first')
    await expect(page.locator(`[data-idle="true"]:not([data-tokens="${second}"])`)).toBeVisible()
    await page.goBack()
    await page.waitForURL('**/library')
    await expect(search).toBeVisible()
    await page.goForward()
    await page.goForward()
    await page.waitForURL('**/t/second')
    await expect(page.locator(`[data-idle="true"][data-tokens="${second}"]`)).toBeVisible()
  })
})

test('A file is shown although some of the code for its page arrives late', async ({ page }) => {
  // The chunks with this code are late. Others that need it arrive before.
  const LATE_CODE = 'request?.adapter:null'
  const late = new Set<string>()
  await page.route('**/_next/static/chunks/*.js', async (route) => {
    const response = await route.fetch()
    const body = await response.text()
    if (body.includes(LATE_CODE)) {
      late.add(route.request().url())
      await new Promise((resolve) => setTimeout(resolve, 1_500))
    }
    await route.fulfill({ response, body })
  })
  await open(page, '/library')
  await choose(page, fileOf({ ...example, id: 'late-code' }))
  await page.waitForURL(/\/t\//)
  await idle(page)
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
  expect(late.size).toBeGreaterThan(0)
  // Chunks of pages that are prefetched may still be under way.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
