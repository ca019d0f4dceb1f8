/** Tokenizers from the Hub: downloads with their progress, and the server's own tokenizer in place of a gated one. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { CHANGING, greedy, HUB_PORT, idle, open } from '../support/application.ts'
import { type SlowServer, startSlowServer } from '../support/slow-server.ts'

const QUESTION = 'What is 12 * 7?'
const FOLDER = path.resolve('models/tiny-qwen3')
const files = Object.fromEntries(
  ['tokenizer.json', 'tokenizer_config.json'].map((file) => [file, readFileSync(path.join(FOLDER, file), 'utf8')]),
)

const servers: SlowServer[] = []
let hub: TestHub | undefined
test.afterEach(async () => {
  await Promise.all([...servers.splice(0).map((server) => server.close()), hub?.close()])
})

test('A tokenizer is downloaded with its progress, cancelled and downloaded again; for a gated one the server’s is offered', async ({
  page,
  request,
}, { repeatEachIndex }) => {
  // Downloads stay in the cache, so each repetition of the test needs another repository.
  const name = `org/slow-${repeatEachIndex}`
  const gate = Promise.withResolvers<void>()
  hub = await startTestHub(
    { [name]: { files, pause: () => gate.promise }, 'org/gated': { files, refused: 401 } },
    HUB_PORT,
  )
  for (const tokenizer of [name, 'org/gated']) {
    const server = await startSlowServer(0, { tokenizer })
    servers.push(server)
    const url = `/api/servers/${encodeURIComponent(tokenizer.replace('/', ' '))}`
    await request.delete(url, { headers: CHANGING, data: {} })
    await request.post('/api/servers', {
      headers: CHANGING,
      data: { name: tokenizer.replace('/', ' '), baseUrl: server.baseUrl },
    })
  }
  const run = page.getByRole('complementary', { name: 'Run' })

  await open(page)
  await greedy(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption(name.replace('/', ' '))
  await page.getByLabel('Question').fill(QUESTION)
  const download = page.locator(`[data-download="${name}"]`)

  await test.step('the download is cancelled', async () => {
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(download).toContainText(`Downloading the tokenizer ${name}`)
    await expect(download.getByRole('progressbar')).toHaveAttribute('max', /^\d{4,}$/)
    await page.getByRole('button', { name: /Starting/ }).click()
    await expect(page.getByLabel('Question')).toHaveValue(QUESTION)
    await expect
      .poll(async () => (await (await request.get('/api/tokenizers', { headers: CHANGING })).json()).downloads)
      .toEqual([])
  })

  await test.step('the run begins after the download', async () => {
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(download.getByRole('progressbar')).toBeVisible()
    gate.resolve()
    await idle(page)
    await expect(page.locator('[data-call]')).toContainText('84')
    await expect(download).toHaveCount(0)
    await expect(run).not.toContainText('the server’s own')
  })

  await test.step('a gated tokenizer is replaced by the server’s', async () => {
    await page.getByRole('button', { name: /New run/ }).click()
    await page.waitForURL((url) => !url.searchParams.has('t'))
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('org gated')
    await page.getByLabel('Question').fill(QUESTION)
    await page.getByRole('button', { name: /Send/ }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'the Hub refuses access to org/gated' })
    await expect(alert).toContainText('Request access at')
    await alert.getByRole('button', { name: 'Use the server’s tokenizer' }).click()
    await idle(page)
    await expect(run).toContainText('the server’s own, bytes as it decodes them')
    await expect(run).toContainText('prefix exact ✓')
    await page.getByText('More settings').click()
    await expect(page.getByText('Tokenizer: the server’s own, over /tokenize')).toBeVisible()
    await page.getByRole('button', { name: /New run/ }).click()
    await expect(page.getByLabel('Tokenizer')).toHaveValue('server')
  })
})
