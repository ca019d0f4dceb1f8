/** Health: the strip, its places, the library's marks, and a trajectory verified on the built-in server. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, open } from './application.ts'
import { expectFit, WINDOWS } from './fit.ts'

// biome-ignore lint/suspicious/noExplicitAny: files are changed by hand here
type File = any

/** Stores an example under another id, changed. */
async function store(request: APIRequestContext, example: string, change: (file: File) => void): Promise<string> {
  const file: File = JSON.parse(readFileSync(`public/examples/${example}.json`, 'utf8'))
  file.id = `health-${randomUUID().slice(0, 8)}`
  change(file)
  const response = await request.post('/api/import', {
    headers: { ...CHANGING, 'content-type': 'application/octet-stream' },
    data: Buffer.from(JSON.stringify(file)),
  })
  expect(response.status()).toBe(201)
  return file.id
}

const checked = async (page: Page) => {
  await page.locator('[data-health="done"]').waitFor()
  await page.locator('[data-drift="done"]').waitFor()
}
const strip = (page: Page) => page.getByRole('region', { name: 'Health' })
const panel = (page: Page) => page.getByRole('region', { name: 'Verify on server' })
const selected = (page: Page) => expect.poll(() => new URL(page.url()).searchParams.get('at'))

test('drift is counted, and shown place by place', async ({ page }) => {
  await open(page, '/example/retokenization-drift')
  await checked(page)
  await expect(strip(page).getByRole('status')).toHaveText('no problems found · 8 checks')
  await expect(page.getByText('3 spans', { exact: true })).toBeVisible()
  const chip = strip(page).getByRole('button', { name: 'drift 3 spans' })
  await chip.click()
  await selected(page).toBe('217-218')
  await expect(strip(page)).toContainText('Every span holds trained tokens.')
  await chip.press('Enter')
  await selected(page).toBe('243-244')
  await strip(page).getByRole('button', { name: 'Previous place' }).click()
  await selected(page).toBe('217-218')
  await strip(page).getByRole('button', { name: 'Close' }).press('Escape')
  await expect(strip(page)).not.toContainText('Every span holds trained tokens.')
  await open(page, '/example/two-steps')
  await checked(page)
  await expect(strip(page).getByRole('status')).toHaveText('no problems found · drift 0 spans · 8 checks')
  for (const window of WINDOWS) {
    await page.setViewportSize(window)
    await expectFit(page)
  }
})

test('what is wrong opens its place; what cannot be told is said', async ({ page, request }) => {
  const key = await store(request, 'tool-error', (file) => {
    const [prompt, response] = file.segments
    prompt.mask = prompt.ids.map(() => 1)
    const { id, raw, span, text } = response.toolCalls[0]
    response.toolCalls = [{ kind: 'malformed', id, raw, span, text, why: 'no object', at: text.start }]
    file.model.tokenizer.name = 'somebody/elses'
  })
  await open(page, `/t/${key}`)
  await page.locator('[data-health="done"][data-drift="failed"]').waitFor()
  await strip(page)
    .getByRole('button', { name: /malformed call/ })
    .click()
  await selected(page).toBe('201-220')
  await expect(strip(page)).toContainText('no object')
  await expect(strip(page).getByRole('button', { name: /context is trained/ })).toBeVisible()
  await strip(page).getByRole('button', { name: 'drift not known' }).click()
  await expect(strip(page)).toContainText('Whether the text comes back as the same ids is not known')
})

test('rows of the library tell it, and are filtered by it', async ({ page, request }) => {
  const tag = `t${randomUUID().slice(0, 8)}`
  const label = (title: string) => (file: File) => {
    file.title = title
    file.tags = [tag]
  }
  await store(request, 'two-steps', label('Good'))
  await store(request, 'retokenization-drift', label('Drifting'))
  const bad = await store(request, 'tool-error', (file) => {
    label('Bad')(file)
    file.segments[1].finish = { kind: 'length' }
  })
  await open(page, `/library?tag=${tag}`)
  const row = (title: string) => page.locator('tr[data-key]', { has: page.getByRole('link', { name: title }) })
  await expect(row('Bad')).toContainText('1 response cut at the token limit')
  await expect(row('Drifting')).toContainText('drift 3 spans')
  await row('Good').getByRole('link').focus()
  await expect(page.getByRole('complementary')).toContainText('no problems found')
  await page.getByLabel('Health').selectOption('problems')
  await expect(page.locator('tr[data-key]')).toHaveCount(1)
  await page.getByLabel('Health').selectOption('drift')
  await expect(page.locator('tr[data-key]')).toHaveCount(1)
  await expect(row('Drifting')).toBeVisible()
  const health = await request.get(`/api/trajectories/${bad}/health`, { headers: AUTHORIZED })
  expect((await health.json()).findings.map(({ kind }: { kind: string }) => kind)).toEqual(['truncated', 'failed-call'])
})

test('a trajectory is verified on the built-in server', async ({ page }) => {
  await open(page, '/example/retokenization-drift')
  await panel(page).getByRole('button', { name: 'Score again' }).click()
  await page.locator('[data-verify="scored"]').waitFor()
  const floor = Number(await panel(page).locator('[data-floor]').getAttribute('data-floor'))
  expect(floor).toBeLessThan(1e-4)
  await expect(panel(page)).toContainText('over 79 trained tokens')
  await expect(panel(page)).toContainText('tiny-qwen3, as recorded')
  await expect(panel(page)).toContainText('None: no token differs far more than the others.')
  await panel(page).getByRole('button', { name: 'Colour tokens by the scores' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('colour')).toBe('column:verified')
  await expect(page.getByLabel('Colour tokens by something else')).toHaveValue('column:verified')
})

test('what was sampled otherwise is not compared, outliers are named, and it can be given up', async ({
  page,
  request,
}) => {
  const key = await store(request, 'retokenization-drift', (file) => {
    file.segments[1].request.samplingParams.temperature = 0.7
    file.segments[3].logprobs[2] = -5
    file.model.name = 'another'
  })
  await open(page, `/t/${key}`)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/score', async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await panel(page).getByRole('button', { name: 'Score again' }).click()
  await panel(page).getByRole('button', { name: 'Cancel' }).click()
  await page.locator('[data-verify="idle"]').waitFor()
  release()
  await page.unroute('**/api/score')
  await panel(page).getByRole('button', { name: 'Score again' }).click()
  await page.locator('[data-verify="scored"]').waitFor()
  await expect(panel(page)).toContainText('Not comparable: sampled at temperature 0.7.')
  await expect(panel(page)).toContainText('tiny-qwen3; recorded: another')
  await panel(page).getByRole('button', { name: /^281 / }).click()
  await selected(page).toBe('281')
})

test('ids that the server cannot take are refused before they are sent', async ({ request }) => {
  const score = (ids: readonly number[]) => request.post('/api/score', { headers: CHANGING, data: { ids } })
  const tooLong = await score(Array.from({ length: 4096 }, () => 10))
  expect([tooLong.status(), (await tooLong.json()).code]).toEqual([422, 'CONTEXT_LENGTH'])
  const foreign = await score([5000])
  expect([foreign.status(), (await foreign.json()).code]).toEqual([422, 'OTHER_TOKENIZER'])
})
