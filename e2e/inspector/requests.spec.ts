/** The Requests and Raw tabs: the recorded requests, repeated with cURL, and the file with its positions. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { APPLICATION_URL, open, TOKEN } from '../support/application.ts'
import { expectFitEverywhere, SCREENS, watch } from '../support/fit.ts'

const NAME = 'two-steps'
const file = readFileSync(`public/examples/${NAME}.json`, 'utf8')
const trajectory: Trajectory = JSON.parse(file)
const starts = segmentStarts(trajectory)
const responses = trajectory.segments.flatMap((segment, index) =>
  segment.kind === 'response' ? [{ segment, index }] : [],
)
const second = responses[1] as { segment: ResponseSegment; index: number }
const sent = ids(trajectory).slice(0, starts[second.index])

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

async function show(page: Page, query: string): Promise<void> {
  await open(page, `/example/${NAME}${query}`)
  await page.locator('[data-tokens]').waitFor({ state: 'attached' })
}

// components/inspector/requests/requests-tab.test.tsx covers changed ids and a file without requests.
test('Requests tab shows and copies each request, whose cURL generates the same tokens again, and fits', async ({
  page,
}) => {
  const wrongs = watch(page)
  await show(page, '?tab=requests')
  const details = page.locator('[data-request-open="2"]')
  const { request, usage } = second.segment

  await test.step('A request shows what was sent and received, and its ids have the recorded hash', async () => {
    await expect(page.locator('[data-request][data-holds="true"]')).toHaveCount(responses.length)
    await page.locator('[data-request="2"]').click()
    await expect(details.locator('[data-check="holds"]')).toBeVisible()
    await expect(details).toContainText(request?.rid as string)
    await expect(details).toContainText(`prompt_tokens${usage?.promptTokens}`)
    await expect(details).toContainText(`output_ids${second.segment.ids.length}`)
  })

  await test.step('The whole body is copied, and shown on demand', async () => {
    await details.getByRole('button', { name: 'Body' }).click()
    await expect(details).toContainText(`${sent.length - 12} more`)
    await details.getByRole('button', { name: 'Copy body' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'body copied.' })).toBeVisible()
    const body = JSON.parse(await clipboard(page))
    expect(body.input_ids).toEqual(sent)
    expect(body.rid).toBe(request?.rid)
    expect(body.sampling_params).toMatchObject(request?.samplingParams ?? {})
    await details.getByLabel('All ids').check()
    await expect(details.getByRole('region', { name: 'body of request 2' })).toContainText(`${sent.slice(0, 20)}`)
  })

  await test.step('The copied cURL generates the same tokens on the server', async () => {
    await details.getByRole('button', { name: 'cURL', exact: true }).click()
    await expectFitEverywhere(page, undefined, '[role=tabpanel]')
    await page.setViewportSize(SCREENS[0].viewport)
    // requests.test.ts shows without curl that a shell passes the body unchanged.
    if (spawnSync('curl', ['--version']).status !== 0) return
    await details.getByRole('button', { name: 'Copy cURL' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'cURL copied.' })).toBeVisible()
    const reply = execFileSync('bash', ['-c', await clipboard(page)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, SGLANG_BASE_URL: `${APPLICATION_URL}/sglang`, SGLANG_API_KEY: TOKEN },
    })
    const chunks = reply.split('\n').filter((line) => line.startsWith('data: {'))
    // The built-in server sends only new tokens in each chunk, and the example is greedy.
    expect(chunks.flatMap((line) => JSON.parse(line.slice('data: '.length)).output_ids)).toEqual(second.segment.ids)
  })

  await test.step('A request links to the tokens of its response', async () => {
    await details.getByRole('button', { name: 'Show the response' }).click()
    const from = starts[second.index] as number
    await page.waitForURL((url) => url.searchParams.get('at') === `${from + second.segment.ids.length - 1}-${from}`)
    await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
  })
  expect(wrongs).toEqual([])
})

// components/inspector/raw/raw-view.test.tsx covers keys and links to tokens, row-window.test.ts any number of lines.
test('Raw tab finds in the file, copies a value, scrolls to the end with few rows, downloads the same bytes, and fits', async ({
  page,
}) => {
  const wrongs = watch(page)
  await show(page, `?tab=raw&at=${(starts[1] as number) + 3}`)
  const json = page.getByRole('region', { name: 'JSON', exact: true })
  const lines = file.split('\n').length - 1
  await expect(json).toHaveAttribute('data-lines', String(lines))
  await expect(page.locator('[data-raw-path]')).toHaveText('segments[1].ids[3]')
  await expectFitEverywhere(page, () => page.locator('[data-row]').first().waitFor(), '[role=tabpanel]')
  await page.setViewportSize(SCREENS[0].viewport)

  const field = page.getByLabel('Find in the file')
  await field.fill('calculator')
  await expect(page.locator('[data-raw-hits]')).toHaveText(`${file.split('calculator').length - 1} times`)
  await field.fill('finish')
  await field.press('Enter')
  await expect(page.locator('[data-raw-path]')).toHaveText('segments[1].finish')
  await page.getByRole('button', { name: 'Copy value' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Value copied.' })).toBeVisible()
  expect(JSON.parse(await clipboard(page))).toEqual((trajectory.segments[1] as ResponseSegment).finish)

  await json.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await expect(json.locator(`[data-line="${lines}"]`)).toHaveText(/}$/)
  expect(await json.locator('[data-row]').count()).toBeLessThan(120)

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect(readFileSync(await (await download).path(), 'utf8')).toBe(file)

  await page.getByRole('button', { name: `Show ${trajectory.segments[1]?.ids.length} tokens` }).click()
  await page.waitForURL((url) => url.searchParams.get('at') === `${(starts[2] as number) - 1}-${starts[1]}`)
  expect(wrongs).toEqual([])
})
