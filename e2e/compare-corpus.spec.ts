/** The drift report: of the library, of dropped files, stopped, exported, and on to a sample. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, open } from './application.ts'
import { expectFit, expectWithin, SCREENS, watch } from './fit.ts'

const example = (name: string) => JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
const drifting = example('retokenization-drift')
const steady = example('two-steps')

async function store(request: APIRequestContext, ...trajectories: readonly object[]) {
  const tag = `corpus-${randomUUID().slice(0, 8)}`
  const keys: string[] = []
  for (const [index, trajectory] of trajectories.entries()) {
    const response = await request.post('/api/import', {
      headers: { ...CHANGING, 'content-type': 'application/octet-stream' },
      data: Buffer.from(JSON.stringify({ ...trajectory, id: `${tag}-${index}`, tags: [tag] })),
    })
    keys.push((await response.json()).trajectories[0])
  }
  return { tag, keys }
}

const jsonl = (...lines: readonly (object | string)[]) =>
  Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))

const choose = (page: Page, ...files: readonly { readonly name: string; readonly buffer: Buffer }[]) =>
  page
    .getByLabel('Files of trajectories', { exact: true })
    .setInputFiles(files.map((file) => ({ mimeType: 'application/json', ...file })))

const ended = (page: Page, kind = 'finished') => page.locator(`[data-corpus="${kind}"]`).waitFor()

const bothSides = (page: Page, key: string) =>
  page.waitForURL(
    ({ pathname, searchParams }) =>
      pathname === '/compare' && searchParams.get('left') === key && searchParams.get('right') === `${key}~text`,
  )

async function saved(page: Page, button: string) {
  await page.getByRole('button', { name: 'Save the report' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const file = await download
  await page.keyboard.press('Escape')
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

test('of a selection of the library: figures, kinds, samples, and one step to both sides and back', async ({
  page,
  request,
}) => {
  const { tag, keys } = await store(request, drifting, steady)
  await open(page, `/library?tag=${tag}`)
  await page.getByLabel('Choose all of this page').check()
  await page.getByRole('button', { name: 'Drift report of these' }).click()
  await page.waitForURL('**/compare/corpus?keys=**')
  await ended(page)
  await page.getByRole('button', { name: 'Text', exact: true }).click()
  await page.waitForURL(/as=text/)
  await expect(page.getByLabel('Summary')).toContainText('1 of 2 checked')
  await ended(page)
  const kinds = page.getByRole('table', { name: 'Drift by kind' })
  await kinds.getByRole('button', { name: 'split' }).click()
  await page.waitForURL(/kind=split/)
  await expect(page.getByRole('region', { name: 'Samples with split' }).locator('tbody tr')).toHaveCount(1)
  await kinds.getByRole('button', { name: 'split' }).click()
  await page.getByRole('button', { name: 'All 2' }).click()
  const samples = page.getByRole('table', { name: 'Samples' })
  await expect(samples.locator('tbody tr')).toHaveCount(2)
  await samples.getByRole('button', { name: 'Sample' }).click()
  await expect(samples.getByRole('columnheader', { name: 'Sample' })).toHaveAttribute('aria-sort', 'ascending')
  await samples.locator(`[data-row="${keys[0]}"] a`).click()
  await bothSides(page, keys[0] as string)
  await page.goBack()
  await ended(page)
  await expect(page.getByRole('table', { name: 'Samples' }).locator('tbody tr')).toHaveCount(2)
})

test('of dropped files of good and bad lines: what could not be checked, exports read back, and a sample that is stored', async ({
  page,
  request,
}) => {
  const id = `corpus-file-${randomUUID()}`
  const ids = drifting.segments.flatMap((segment: { readonly ids: readonly number[] }) => segment.ids)
  const files = [
    { name: 'a.jsonl', buffer: jsonl({ ...drifting, id }, '{"format": "rollscope.tra', steady, { hello: 1 }) },
    { name: 'b.json', buffer: jsonl({ token_ids: ids, loss_mask: ids.map(() => 1) }) },
  ]
  await open(page, '/compare/corpus?as=text')
  await ended(page, 'none')
  // As a drop of several files would do it.
  const dropped = await page.evaluateHandle(
    (all) => {
      const transfer = new DataTransfer()
      for (const { name, text } of all) transfer.items.add(new File([text], name))
      return transfer
    },
    files.map(({ name, buffer }) => ({ name, text: buffer.toString() })),
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: dropped })
  await ended(page)
  await expect(page.getByLabel('Summary')).toContainText('1 of 2 checked, 3 not checked')
  const reasons = page.getByRole('region', { name: 'Not checked' })
  await expect(reasons).toContainText('2 × The record is no trajectory.')
  await expect(reasons).toContainText('a.jsonl:2')
  await expect(reasons).toContainText('1 × The file names no tokenizer.')

  await page.getByLabel('Tokenizer where none is named').fill('built-in')
  await page.getByRole('button', { name: 'Use' }).click()
  await page.waitForURL(/tokenizer=built-in/)
  await expect(page.getByLabel('Summary')).toContainText('2 of 3 checked, 2 not checked')
  await ended(page)

  const samples = await saved(page, 'Samples as CSV')
  expect(samples.name).toBe('drift-samples.csv')
  const rows = samples.text.trimEnd().split('\r\n')
  expect(rows).toHaveLength(6)
  expect(rows[1]).toContain(`a.jsonl:1,${id},`)
  expect((await saved(page, 'Kinds as CSV')).text).toMatch(/\r\nsplit,2,/)
  const report = JSON.parse((await saved(page, 'Report as JSON')).text)
  expect(report).toMatchObject({ version: 1, partial: false, against: { mode: 'text', tokenizer: 'built-in' } })
  expect(report.totals.samples).toMatchObject({ checked: 3, drifting: 2, unchecked: 2 })

  await page
    .locator('[data-row="a.jsonl:1"]')
    .getByRole('button', { name: /Store and compare/ })
    .click()
  await bothSides(page, id)
  expect((await request.get(`/api/trajectories/${id}`, { headers: AUTHORIZED })).status()).toBe(200)
  // What was read is still there.
  await page.goBack()
  await expect(page.getByLabel('Summary')).toContainText('2 of 3 checked')
})

test('stopped, it keeps what is there and says that it is a part', async ({ page }) => {
  await open(page, '/compare/corpus?as=text')
  await ended(page, 'none')
  // Without what only makes the file long.
  const segments = drifting.segments.map((segment: object) => ({ ...segment, topLogprobs: undefined }))
  const many = Array.from({ length: 1000 }, (_, index) => ({ ...drifting, segments, id: `many-${index}` }))
  await choose(page, { name: 'many.jsonl', buffer: jsonl(...many) })
  await expect(page.getByRole('progressbar', { name: 'Report' })).toBeVisible()
  await page.locator('[data-row]').first().waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await ended(page, 'stopped')
  await expect(page.getByRole('status').filter({ hasText: /^Partial: \d+ samples were read/ })).toBeVisible()
  const report = JSON.parse((await saved(page, 'Report as JSON')).text)
  expect(report.partial).toBe(true)
  expect(report.samples.length).toBeGreaterThan(0)
  expect(report.samples.length).toBeLessThan(1000)
  await expect(page.getByRole('button', { name: 'Run again' })).toBeVisible()
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('start, report and what could not be checked are accessible and fit', async ({ page }) => {
      const wrongs = watch(page)
      await open(page, '/compare/corpus?as=text')
      await ended(page, 'none')
      await expectFit(page)
      await choose(page, { name: 'a.jsonl', buffer: jsonl(drifting, steady, { hello: 1 }) })
      await ended(page)
      await page.getByRole('button', { name: 'All 3' }).click()
      await expectFit(page)
      await expectWithin(page.locator('main'))
      expect(wrongs).toEqual([])
    })
  })
