/** A model of the Hub: its download on the page, what stays of one that was stopped, and one that does not fit. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { startTestHub, type TestHub, type TestRepository } from '../lib/tokenizer/test-hub.ts'
import { AUTHORIZED, ask, greedy, open, startApplication, stopApplication } from './application.ts'

const NAME = 'org/calculator'
const GRAPH = 'onnx/model.onnx'
const files = Object.fromEntries(
  ['config.json', 'tokenizer.json', 'tokenizer_config.json', GRAPH].map((file) => [
    file,
    readFileSync(path.join('models', 'tiny-qwen3', file)),
  ]),
)
const never = () => new Promise(() => {})

let folder: string
let hub: TestHub
let running: Awaited<ReturnType<typeof startApplication>> | undefined
test.beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-model-'))
})
test.afterEach(async () => {
  if (running) await stopApplication(running, 'SIGTERM')
  running = undefined
  await hub.close()
  await rm(folder, { recursive: true })
})

/** On the model of this repository, with a cache of its own. */
async function start(repository: TestRepository): Promise<string> {
  hub = await startTestHub({ [NAME]: repository })
  return startAgain()
}

async function startAgain(): Promise<string> {
  running = await startApplication(path.join(folder, 'data'), {
    ROLLSCOPE_MODEL: NAME,
    HF_ENDPOINT: hub.url,
    HF_HUB_CACHE: path.join(folder, 'hub'),
  })
  return running.base
}

async function stop(): Promise<void> {
  if (running) await stopApplication(running, 'SIGTERM')
  running = undefined
}

const cached = (): string[] =>
  readdirSync(path.join(folder, 'hub'), { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file))

const ready = async (request: APIRequestContext, base: string) => {
  const response = await request.get(`${base}/sglang/ready`, { headers: AUTHORIZED })
  return { status: response.status(), text: await response.text() }
}

async function calculates(page: Page, base: string): Promise<void> {
  await open(page, '/', base)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')
  await expect(page.locator('[data-call]')).toContainText('84')
}

test('a download is told on the page, a run begins when it is there, and the next start needs no Hub', async ({
  page,
}) => {
  const gate = Promise.withResolvers<void>()
  const base = await start({ files, isLfs: true, pause: () => gate.promise })
  await open(page, '/servers', base)
  await expect(page.getByText(/downloading the model: 0\.0 of 9\.4 MB/).first()).toBeVisible()
  gate.resolve()
  await calculates(page, base)
  expect(cached().filter((file) => file.endsWith('.incomplete'))).toEqual([])
  await stop()
  const asked = hub.requests.length
  await calculates(page, await startAgain())
  expect(hub.requests).toHaveLength(asked)
})

test('a download that was stopped leaves nothing half, and the next start has only the rest to fetch', async ({
  page,
  request,
}) => {
  const base = await start({ files, pauseIn: GRAPH, pause: never })
  await expect.poll(async () => (await ready(request, base)).text).toContain(`of 9.4 MB, ${GRAPH}`)
  await stop()
  expect(cached()).toContain('config.json')
  expect(cached().filter((file) => file === 'model.onnx' || file.endsWith('.incomplete'))).toEqual([])
  const asked = hub.requests.length
  hub.repositories[NAME] = { files }
  await calculates(page, await startAgain())
  const again = hub.requests.slice(asked).filter((one) => one.includes('/resolve/'))
  expect(again.map((one) => one.replace(/.*\/resolve\/\w+\//, '')).sort()).toEqual([
    GRAPH,
    'tokenizer.json',
    'tokenizer_config.json',
  ])
})

test('a model that does not fit is refused before it is fetched, and the page says what it needs', async ({
  page,
  request,
}) => {
  const base = await start({ files, sizes: { [GRAPH]: 9e14 } })
  await expect.poll(async () => (await ready(request, base)).text).toContain('does not fit')
  await open(page, '/servers', base)
  await expect(page.getByText(/org\/calculator in fp32 does not fit/).first()).toBeVisible()
  expect(hub.requests.filter((one) => one.includes(GRAPH) && one.includes('/resolve/'))).toEqual([])
})
