/** The drift report of the library and of dropped files: stopped, exported, and opened at a sample. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, open, postImport } from '../support/application.ts'
import { expectFitEverywhere, expectWithin, WINDOWS, watch } from '../support/fit.ts'

const example = (name: string) => JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
const drifting = example('retokenization-drift')
const steady = example('two-steps')

async function store(request: APIRequestContext, ...trajectories: readonly object[]) {
  const tag = `corpus-${randomUUID().slice(0, 8)}`
  const keys: string[] = []
  for (const [index, trajectory] of trajectories.entries()) {
    keys.push(...(await postImport(request, { ...trajectory, id: `${tag}-${index}`, tags: [tag] })))
  }
  return { tag, keys }
}

const jsonl = (...lines: readonly (object | string)[]) =>
  Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))

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

test('A drift report of a library selection opens both sides of a sample and returns; after a stop it keeps the checked samples', async ({
  page,
  request,
}) => {
  const { tag, keys } = await store(request, drifting, steady, steady)
  const wrongs = watch(page)
  await open(page, `/library?tag=${tag}`)
  await page.getByLabel('Select all on this page').check()
  await page.getByRole('button', { name: 'Drift report of these' }).click()
  await page.waitForURL('**/compare/corpus?keys=**')
  await ended(page)

  await test.step('the report is stopped while the last trajectory is read', async () => {
    const last = new URL(page.url()).searchParams.get('keys')?.split(',').at(-1)
    const held = Promise.withResolvers<void>()
    await page.route(`**/api/trajectories/${last}`, async (route) => {
      await held.promise
      await route.continue().catch(() => {})
    })
    // One trajectory is read ahead of those that are checked.
    const requested = page.waitForRequest(`**/api/trajectories/${last}`)
    await page.getByRole('button', { name: 'Text', exact: true }).click()
    await page.waitForURL(/as=text/)
    await requested
    await expect(page.getByRole('progressbar', { name: 'Report' })).toBeVisible()
    await expect(page.getByRole('status').filter({ hasText: /[12] samples?/ })).toBeVisible()
    await page.getByRole('button', { name: 'Stop' }).click()
    await ended(page, 'stopped')
    await expect(
      page.getByRole('status').filter({ hasText: /^Partial: (1 sample was|2 samples were) read/ }),
    ).toBeVisible()
    const report = JSON.parse((await saved(page, 'Report as JSON')).text)
    expect(report).toMatchObject({ version: 3, partial: true, against: { mode: 'text' } })
    expect([1, 2]).toContain(report.samples.length)
    held.resolve()
    await page.unroute(`**/api/trajectories/${last}`)
    await page.getByRole('button', { name: 'Run again' }).click()
    await ended(page)
    await expect(page.getByLabel('Summary')).toContainText('1 of 3 checked')
  })

  const kinds = page.getByRole('table', { name: 'Drift by kind' })
  await kinds.getByRole('button', { name: 'split' }).click()
  await page.waitForURL(/kind=split/)
  await expect(page.getByRole('region', { name: 'Samples with split' }).locator('tbody tr')).toHaveCount(1)
  await kinds.getByRole('button', { name: 'split' }).click()
  await page.getByRole('button', { name: /^Content [1-9]/ }).click()
  await page.waitForURL(/layer=content/)
  await expect(page.getByRole('region', { name: 'Samples with content drift' }).locator('tbody tr')).toHaveCount(1)
  await page.getByRole('button', { name: 'All layers' }).click()
  await page.getByRole('button', { name: 'All 3' }).click()
  const samples = page.getByRole('table', { name: 'Samples' })
  await expect(samples.locator('tbody tr')).toHaveCount(3)
  await samples.getByRole('button', { name: 'Sample' }).click()
  await expect(samples.getByRole('columnheader', { name: 'Sample' })).toHaveAttribute('aria-sort', 'ascending')
  await samples.locator(`[data-row="${keys[0]}"] a`).click()
  await bothSides(page, keys[0] as string)
  await page.goBack()
  await ended(page)
  await expect(page.getByRole('table', { name: 'Samples' }).locator('tbody tr')).toHaveCount(3)
  expect(wrongs).toEqual([])
})

test('A drift report of dropped files names unchecked samples, is exported, and stores a sample to compare it', async ({
  page,
  request,
}) => {
  const id = `corpus-file-${randomUUID()}`
  const ids = drifting.segments.flatMap((segment: { readonly ids: readonly number[] }) => segment.ids)
  const files = [
    { name: 'a.jsonl', buffer: jsonl({ ...drifting, id }, '{"format": "rollscope.tra', steady, { hello: 1 }) },
    { name: 'b.json', buffer: jsonl({ token_ids: ids, loss_mask: ids.map(() => 1) }) },
  ]
  const wrongs = watch(page)
  await open(page, '/compare/corpus?as=text')
  await ended(page, 'none')
  await expectFitEverywhere(page)
  // The drop contains several files.
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
  await expect(reasons).toContainText('2 × The record is not a trajectory.')
  await expect(reasons).toContainText('a.jsonl:2')
  await expect(reasons).toContainText('1 × The file names no tokenizer.')

  await page.getByLabel('Default tokenizer').fill('built-in')
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

  await page.getByRole('button', { name: 'All 5' }).click()
  await expectFitEverywhere(page, () => expectWithin(page.locator('main')))
  await page.setViewportSize(WINDOWS[0])
  await page
    .locator('[data-row="a.jsonl:1"]')
    .getByRole('button', { name: /Store and compare/ })
    .click()
  await bothSides(page, id)
  expect((await request.get(`/api/trajectories/${id}`, { headers: AUTHORIZED })).status()).toBe(200)
  // The files that were read are still in the report.
  await page.goBack()
  await expect(page.getByLabel('Summary')).toContainText('2 of 3 checked')
  expect(wrongs).toEqual([])
})
