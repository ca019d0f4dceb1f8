/** A model of the Hub in the built-in server: its download on the page, and a download that is resumed after a stop. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { AUTHORIZED, ask, greedy, open, startApplication, stopApplication } from '../support/application.ts'

const NAME = 'org/calculator'
const GRAPH = 'onnx/model.onnx'
const files = Object.fromEntries(
  ['config.json', 'tokenizer.json', 'tokenizer_config.json', GRAPH].map((file) => [
    file,
    readFileSync(path.join('models', 'tiny-qwen3', file)),
  ]),
)

let folder: string
let hub: TestHub
let running: Awaited<ReturnType<typeof startApplication>> | undefined

const stop = async (): Promise<number | null | undefined> => {
  const stopped = running
  running = undefined
  return stopped && stopApplication(stopped, 'SIGTERM')
}

test.afterEach(async () => {
  await stop()
  await hub.close()
  await rm(folder, { recursive: true })
})

test('a stopped application leaves no partial model; the next one downloads the rest, shows the progress, and runs', async ({
  page,
  request,
}) => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-model-'))
  hub = await startTestHub({ [NAME]: { files, isLfs: true, pauseIn: GRAPH, pause: () => new Promise(() => {}) } })
  const start = async (): Promise<string> => {
    running = await startApplication(path.join(folder, 'data'), {
      ROLLSCOPE_MODEL: NAME,
      HF_ENDPOINT: hub.url,
      HF_HUB_CACHE: path.join(folder, 'hub'),
    })
    return running.base
  }
  const cached = (): string[] =>
    readdirSync(path.join(folder, 'hub'), { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file))
  const isHalf = (file: string) => file.endsWith('.incomplete')

  await test.step('the application is stopped while the weights arrive', async () => {
    const first = await start()
    const readiness = async () => (await request.get(`${first}/sglang/ready`, { headers: AUTHORIZED })).text()
    await expect.poll(readiness).toContain(`of 9.4 MB, ${GRAPH}`)
    // The progress names the file a moment before its first byte is written.
    await expect.poll(() => cached().filter(isHalf)).not.toEqual([])
    expect(await stop()).toBe(0)
    expect(cached()).toContain('config.json')
    expect(cached().filter((file) => file === 'model.onnx' || isHalf(file))).toEqual([])
  })

  await test.step('the next application downloads the missing files, and the page shows the progress', async () => {
    const gate = Promise.withResolvers<void>()
    hub.repositories[NAME] = { files, isLfs: true, pause: () => gate.promise }
    const requestsBefore = hub.requests.length
    const second = await start()
    await open(page, '/servers', second)
    await expect(page.getByText(/downloading the model: \d\.\d of 9\.4 MB/).first()).toBeVisible()
    gate.resolve()
    await page.getByRole('link', { name: 'Playground', exact: true }).click()
    await greedy(page)
    await ask(page, 'What is 12 * 7?')
    await expect(page.locator('[data-call]')).toContainText('84')
    const downloaded = hub.requests.slice(requestsBefore).filter((path) => path.includes('/resolve/'))
    expect(downloaded.map((path) => path.replace(/.*\/resolve\/\w+\//, '')).sort()).toEqual([
      GRAPH,
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    expect(cached().filter(isHalf)).toEqual([])
  })
})
