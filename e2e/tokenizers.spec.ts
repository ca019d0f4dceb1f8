/** Tokenizers that cannot be had, or not yet: the server in their place, and downloads that show how far they are. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { startTestHub, type TestHub, type TestRepository } from '../lib/tokenizer/test-hub.ts'
import { ask, CHANGING, greedy, HUB_PORT, idle, open, stored } from './application.ts'
import { type SlowServer, startSlowServer } from './slow-server.ts'

const QUESTION = 'What is 12 * 7?'
const FOLDER = path.resolve('models/tiny-qwen3')
const files = Object.fromEntries(
  ['tokenizer.json', 'tokenizer_config.json'].map((file) => [file, readFileSync(path.join(FOLDER, file), 'utf8')]),
)

let server: SlowServer | undefined
let hub: TestHub | undefined
test.afterEach(async () => {
  await server?.close()
  await hub?.close()
  server = undefined
  hub = undefined
})

/** The playground on a server that names this tokenizer. */
async function openOn(page: Page, request: APIRequestContext, tokenizer: string): Promise<void> {
  server = await startSlowServer(0, { tokenizer })
  await request.delete('/api/servers/elsewhere', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'elsewhere', baseUrl: server.baseUrl } })
  await open(page)
  await page.getByLabel('SGLang server').selectOption('elsewhere')
  await greedy(page)
}

const send = async (page: Page): Promise<void> => {
  await page.getByLabel('Question').fill(QUESTION)
  await page.getByRole('button', { name: /Send/ }).click()
}
const run = (page: Page) => page.getByRole('complementary', { name: 'Run' })
const startHub = async (repositories: Record<string, TestRepository>): Promise<TestHub> => {
  hub = await startTestHub(repositories, HUB_PORT)
  return hub
}

test('a server with a tokenizer on its own disk is the tokenizer itself, says so, and goes on as such', async ({
  page,
  request,
}) => {
  await openOn(page, request, '/models/nowhere')
  await ask(page, QUESTION)
  await expect(run(page)).toContainText('the server’s own, bytes as it decodes them')
  await expect(page.locator('[data-call]')).toContainText('84')
  const { model } = (await stored(page, request)) as unknown as { model: Record<string, object> }
  expect(model.tokenizer).toMatchObject({ name: '/models/nowhere', source: 'server' })
  await ask(page, 'Now add 9.')
  await expect(page.locator('[data-call]').last()).toContainText('93')
  await expect(run(page)).toContainText('prefix exact ✓')
  // The same ids as with the tokenizer itself.
  const theirs = await stored(page, request)
  await page.getByRole('button', { name: /New run/ }).click()
  await page.waitForURL((url) => !url.searchParams.has('t'))
  await page.getByLabel('SGLang server').selectOption('built-in')
  await ask(page, QUESTION)
  await ask(page, 'Now add 9.')
  expect((await stored(page, request)).segments.map(({ ids }) => ids)).toEqual(theirs.segments.map(({ ids }) => ids))
})

test('a gated tokenizer is named, and the server’s is a click away', async ({ page, request }) => {
  await startHub({ 'org/gated': { files, refused: 401 } })
  await openOn(page, request, 'org/gated')
  await send(page)
  const alert = page.getByRole('alert').filter({ hasText: 'the Hub does not give org/gated to you' })
  await expect(alert).toContainText('Ask for access at')
  await alert.getByRole('button', { name: 'Use the server’s tokenizer' }).click()
  await idle(page)
  await expect(run(page)).toContainText('the server’s own')
  await page.getByText('More settings').click()
  await expect(page.getByText('Tokenizer: the server’s own, over /tokenize')).toBeVisible()
  await page.getByRole('button', { name: /New run/ }).click()
  await expect(page.getByLabel('Tokenizer')).toHaveValue('server')
})

test('a download shows how far it is, and the run begins when it is there', async ({ page, request }, {
  repeatEachIndex,
}) => {
  // What was fetched stays in the cache: a repetition needs a repository of its own.
  const name = `org/slow-${repeatEachIndex}`
  const gate = Promise.withResolvers<void>()
  await startHub({ [name]: { files, pause: () => gate.promise } })
  await openOn(page, request, name)
  await send(page)
  const download = page.locator(`[data-download="${name}"]`)
  await expect(download).toContainText(`Downloading the tokenizer ${name}`)
  await expect(download.getByRole('progressbar')).toHaveAttribute('max', /^\d{4,}$/)
  gate.resolve()
  await idle(page)
  await expect(page.locator('[data-call]')).toContainText('84')
  await expect(download).toHaveCount(0)
  await expect(run(page)).not.toContainText('the server’s own')
})

test('a download can be given up; the next start begins it again', async ({ page, request }, { repeatEachIndex }) => {
  const name = `org/left-${repeatEachIndex}`
  const slow = await startHub({ [name]: { files, pause: () => new Promise(() => {}) } })
  await openOn(page, request, name)
  await send(page)
  await expect(page.locator(`[data-download="${name}"]`)).toBeVisible()
  await page.getByRole('button', { name: /Starting/ }).click()
  await expect(page.getByLabel('Question')).toHaveValue(QUESTION)
  await expect
    .poll(async () => (await (await request.get('/api/tokenizers', { headers: CHANGING })).json()).downloads)
    .toEqual([])
  slow.repositories[name] = { files }
  await page.getByRole('button', { name: /Send/ }).click()
  await idle(page)
  await expect(page.locator('[data-call]')).toContainText('84')
})

test('a tokenizer can be fetched ahead of a run, step by step', async ({ request }) => {
  await startHub({ 'org/ahead': { files } })
  const answer = await request.post('/api/tokenizers', { headers: CHANGING, data: { name: 'org/ahead' } })
  const lines = (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.at(-1)).toMatchObject({ state: 'ready', name: 'org/ahead', hasTemplate: true })
  const missing = await request.post('/api/tokenizers', { headers: CHANGING, data: { name: 'org/none' } })
  expect(JSON.parse(await missing.text())).toMatchObject({ state: 'failed', code: 'TOKENIZER_NOT_FOUND' })
})
