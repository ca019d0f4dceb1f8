/** Requests and Raw: what was sent, sent again by a shell, and the file with its places. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { ids, segmentStarts } from '#lib/core/tokens.ts'
import type { ResponseSegment, Trajectory } from '#lib/core/trajectory.ts'
import { BASE, idle, open, TOKEN } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const NAME = 'two-steps'
const file = readFileSync(`public/examples/${NAME}.json`, 'utf8')
const trajectory: Trajectory = JSON.parse(file)
const starts = segmentStarts(trajectory)
const responses = trajectory.segments.flatMap((segment, index) =>
  segment.kind === 'response' ? [{ segment, index }] : [],
)
const second = responses[1] as { segment: ResponseSegment; index: number }
const sent = ids(trajectory).slice(0, starts[second.index])
const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-requests-'))

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

async function show(page: Page, query: string): Promise<void> {
  await open(page, `/example/${NAME}${query}`)
  await page.locator('[data-tokens]').waitFor({ state: 'attached' })
}

async function openFile(page: Page, name: string, text: string): Promise<void> {
  const written = path.join(folder, name)
  writeFileSync(written, text)
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(written)
  await idle(page)
}

test('each request says what was sent and what came back, and its ids are held against their hash', async ({
  page,
}) => {
  await show(page, '?tab=requests')
  await expect(page.locator('[data-request][data-holds="true"]')).toHaveCount(responses.length)
  await page.locator('[data-request="2"]').click()
  const details = page.locator('[data-request-open="2"]')
  await expect(details.locator('[data-check="holds"]')).toBeVisible()
  const { request, usage } = second.segment
  await expect(details).toContainText(request?.rid as string)
  await expect(details).toContainText(`prompt_tokens${usage?.promptTokens}`)
  await expect(details).toContainText(`output_ids${second.segment.ids.length}`)

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

  await details.getByRole('button', { name: 'Show the response' }).click()
  const from = starts[second.index] as number
  await page.waitForURL((url) => url.searchParams.get('at') === `${from + second.segment.ids.length - 1}-${from}`)
  await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
})

test('the copied cURL asks the server for the same tokens again', async ({ page }) => {
  test.skip(spawnSync('curl', ['--version']).status !== 0, 'there is no curl')
  await show(page, '?tab=requests')
  await page.locator('[data-request="2"]').click()
  const details = page.locator('[data-request-open="2"]')
  await details.getByRole('button', { name: 'cURL', exact: true }).click()
  await details.getByRole('button', { name: 'Copy cURL' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'cURL copied.' })).toBeVisible()
  const reply = execFileSync('bash', ['-c', await clipboard(page)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SGLANG_BASE_URL: `${BASE}/sglang`, SGLANG_API_KEY: TOKEN },
  })
  const chunks = reply.split('\n').filter((line) => line.startsWith('data: {'))
  // The built-in server sends what is new in each chunk, and the example is greedy.
  expect(chunks.flatMap((line) => JSON.parse(line.slice('data: '.length)).output_ids)).toEqual(second.segment.ids)
})

test('a record that was changed is told, and a file without requests says why', async ({ page }) => {
  const segments = trajectory.segments.map((segment, index) =>
    index === 0 ? { ...segment, ids: [...segment.ids.slice(1), segment.ids[0] as number] } : segment,
  )
  await openFile(page, 'changed.json', encode({ ...trajectory, id: 'changed', segments } as Trajectory))
  await page.getByRole('tab', { name: 'Requests' }).click()
  await expect(page.locator('[data-request][data-holds="false"]')).toHaveCount(responses.length)
  await expect(page.locator('[data-check="differs"]')).toHaveText('other ids stand here')

  const bare = trajectory.segments.map((segment) => ({ ...segment, request: undefined }))
  const provenance = { kind: 'import', format: 'slime', lacked: [] } as const
  await openFile(page, 'bare.json', encode({ ...trajectory, id: 'bare', segments: bare, provenance } as Trajectory))
  await page.getByRole('tab', { name: 'Requests' }).click()
  await expect(page.getByText('There are no requests to show.')).toBeVisible()
  await expect(page.getByText(/Files of the format slime/)).toBeVisible()
})

test('the raw file: found in, with paths, to the tokens and back, downloaded byte for byte', async ({ page }) => {
  await show(page, `?tab=raw&at=${(starts[1] as number) + 3}`)
  const json = page.getByRole('region', { name: 'JSON', exact: true })
  await expect(json).toHaveAttribute('data-lines', String(file.split('\n').length - 1))
  await expect(page.locator('[data-raw-path]')).toHaveText('segments[1].ids[3]')
  const field = page.getByLabel('Find in the file')
  await field.fill('calculator')
  const times = file.split('calculator').length - 1
  await expect(page.locator('[data-raw-hits]')).toHaveText(`${times} times`)
  await field.fill('finish')
  await field.press('Enter')
  await expect(page.locator('[data-raw-path]')).toHaveText('segments[1].finish')
  await page.getByRole('button', { name: 'Copy value' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Value copied.' })).toBeVisible()
  expect(JSON.parse(await clipboard(page))).toEqual((trajectory.segments[1] as ResponseSegment).finish)
  await json.focus()
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-raw-path]')).toHaveText('segments[1].usage')

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect(readFileSync(await (await download).path(), 'utf8')).toBe(file)

  await page.getByRole('button', { name: `Show ${trajectory.segments[1]?.ids.length} tokens` }).click()
  await page.waitForURL((url) => url.searchParams.get('at') === `${(starts[2] as number) - 1}-${starts[1]}`)
})

test('a file of megabytes is scrolled, found in and left', async ({ page }) => {
  const large = largeTrajectory({ tokens: 100_000 })
  const text = encode(large)
  await openFile(page, 'large.json', text)
  await page.getByRole('tab', { name: 'Raw' }).click()
  const json = page.getByRole('region', { name: 'JSON', exact: true })
  await expect(json).toHaveAttribute('data-lines', String(text.split('\n').length - 1))
  await json.evaluate((element) => element.scrollTo(0, element.scrollHeight))
  await expect(json.locator(`[data-line="${text.split('\n').length - 1}"]`)).toHaveText(/}$/)
  expect(await json.locator('[data-row]').count()).toBeLessThan(120)
  const field = page.getByLabel('Find in the file')
  await field.fill('max_tool_iterations')
  // The agent has read of it in files: the last one is the file's own.
  await field.press('Shift+Enter')
  await expect(page.locator('[data-raw-path]')).toHaveText('outcome.reason')
})

for (const tab of ['requests', 'raw'])
  for (const screen of SCREENS)
    test.describe(`${screen.viewport.width} px`, () => {
      test.use(screen)

      test(`${tab} fits`, async ({ page }) => {
        const wrongs = watch(page)
        await show(page, `?tab=${tab}&at=200`)
        if (tab === 'requests') {
          await page.locator('[data-request][data-holds]').first().waitFor()
          await expectFit(page)
          await page.getByRole('button', { name: 'cURL', exact: true }).click()
        }
        await page.locator('[data-row]').first().waitFor()
        await expectFit(page)
        expect(wrongs).toEqual([])
      })
    })
