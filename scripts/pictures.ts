/**
 * Takes the pictures of the documentation (docs/pictures) from the built application: `npm run pictures`, or
 * `npm run pictures -- find library` for some of them.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '@playwright/test'
import { withBench } from '../bench/support/browser.ts'
import { AUTHORIZED, CHANGING, idle, TOKEN, whenQuiet } from '../e2e/support/application.ts'
import { groupTrajectories } from '../e2e/support/group-trajectories.ts'
import { runHarness } from '../e2e/support/harness-run.ts'
import { trainerTrajectory } from '../e2e/support/trainer-trajectory.ts'
import { encode } from '../lib/trajectory/format/codec.ts'
import { LIMITS } from '../lib/util/limits.ts'

const FOLDER = path.resolve(import.meta.dirname, '../docs/pictures')
const LARGEST_BYTES = 150_000
const WIDTH = 1440
/** Id of the trajectory with a trainer’s numbers. */
const RATIOS = 'picture-of-ratios'
/** Id of the session of a harness. */
const SESSION = 'journey-planner'

interface Picture {
  readonly address: string
  /** The height of the window in pixels; it hides what does not answer the page's question. */
  readonly height: number
  /** Brings the page into the state of the picture. */
  readonly prepare?: (page: Page) => Promise<void>
  /** The role of the only visible part. Omitted: the whole window. */
  readonly part?: 'dialog'
}

/** Keys of the stored trajectories in the pictures. */
interface Stored {
  readonly groupId: string
  readonly sampleKey: string
  readonly slimeKey: string
  /** A branch with a forced token. */
  readonly forcedKey: string
  /** A sample with the wrong answer and an estimate of its value. */
  readonly failedKey: string
}

/** The pictures by the name of their page in docs/. */
const pictures = ({
  groupId,
  sampleKey,
  slimeKey,
  forcedKey,
  failedKey,
}: Stored): Readonly<Record<string, Picture>> => ({
  playground: { address: `/?group=${groupId}&t=${sampleKey}`, height: 575, prepare: showFirstResponse },
  inspector: { address: '/example/retokenization-drift', height: 565, prepare: showDrift },
  glossary: { address: '/example/retokenization-drift?at=217', height: 550, prepare: idle },
  groups: { address: '/group/41-07?at=1.180', height: 520, prepare: idle },
  branches: { address: `/t/${forcedKey}?at=${BRANCHED_TOKEN}`, height: 530, prepare: showBranches },
  'value-curve': { address: `/t/${failedKey}`, height: 540, prepare: showDrop },
  find: { address: '/example/two-steps?find=tool:calculator+span:argument', height: 520, prepare: showFirstHit },
  library: { address: '/library', height: 520, prepare: unfoldGroup },
  compare: { address: '/compare?left=example:retokenization-drift&drift=1', height: 640, prepare: idle },
  'template-lab': {
    address: '/templates?from=sample:qwen3-like&at=2',
    height: 600,
    prepare: waitFor('template line 3'),
  },
  'chat-templates': {
    address: '/templates?tab=stability&from=sample:qwen3-like&part=messages',
    height: 680,
    prepare: waitFor('first difference'),
  },
  sessions: { address: `/sessions?session=${SESSION}`, height: 560, prepare: waitForSavings },
  harness: { address: `/sessions?session=${SESSION}`, height: 560, prepare: showRewrite },
  'push-from-python': { address: `/t/${slimeKey}`, height: 520, prepare: idle },
  'trainer-numbers': { address: `/t/${RATIOS}?colour=ratio`, height: 478, prepare: showFirstJump },
  formats: { address: '/example/two-steps', height: 760, prepare: openExport, part: 'dialog' },
  limits: { address: '/library', height: 240, prepare: openFileOfManyRecords },
  storage: { address: '/library', height: 400, prepare: deleteTrajectory },
  'built-in-server': { address: '/servers?server=built-in', height: 420, prepare: waitForServer },
  'upstream-faults': { address: '/', height: 560, prepare: sendToAbsentServer },
})

const waitFor = (text: string) => (page: Page) => page.getByText(text).first().waitFor()

/** The sampled token of the example at which the branches of its picture begin. */
const BRANCHED_TOKEN = 217

async function showBranches(page: Page): Promise<void> {
  await idle(page)
  await page.getByRole('region', { name: 'Branches' }).scrollIntoViewIfNeeded()
  await page.getByRole('button', { name: 'Cut here' }).scrollIntoViewIfNeeded()
}

async function showDrop(page: Page): Promise<void> {
  await idle(page)
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('v')
  await page.locator('[data-value-cliff]').getByRole('button').click()
}

async function showFirstResponse(page: Page): Promise<void> {
  await idle(page)
  await page.getByRole('grid').focus()
  for (const key of ['J', 'J', 'J', 'K', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
}

async function showDrift(page: Page): Promise<void> {
  await page.locator('[data-drift="done"]').waitFor()
  await page.getByRole('button', { name: /drift \d+ spans/ }).click()
}

async function showFirstHit(page: Page): Promise<void> {
  await idle(page)
  await page.getByLabel('Find', { exact: true }).press('Enter')
}

async function showFirstJump(page: Page): Promise<void> {
  await page.locator('[data-jump]').waitFor()
  await page.getByRole('button', { name: /^Largest/ }).click()
}

async function waitForSavings(page: Page): Promise<void> {
  await idle(page)
  await page.getByText('compared with a chat pipeline').waitFor()
}

async function showRewrite(page: Page): Promise<void> {
  await waitForSavings(page)
  await page.getByRole('row').filter({ hasText: 'rewritten' }).first().getByRole('button').click()
  await page.getByText('first difference at token').waitFor()
  await idle(page)
}

async function unfoldGroup(page: Page): Promise<void> {
  await page.getByText(/^4 samples/).click()
  await page.keyboard.press('ArrowRight')
}

async function openExport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByRole('dialog').waitFor()
}

async function openFileOfManyRecords(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  const buffer = Buffer.from(JSON.stringify(new Array(LIMITS.records + 1).fill(1)))
  await page
    .getByLabel('Trajectory file')
    .setInputFiles({ name: 'rollouts.json', mimeType: 'application/json', buffer })
  await page.getByText('cannot be opened').waitFor()
}

async function deleteTrajectory(page: Page): Promise<void> {
  await page.locator('tr[data-key="example-two-steps"] input').check()
  await page.getByRole('button', { name: 'Delete' }).first().click()
  await page.getByText('1 deleted.').waitFor()
}

async function waitForServer(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Server', exact: true }).getByText('tiny-qwen3').first().waitFor()
}

async function sendToAbsentServer(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('gpu-box')
  await page.getByLabel('Question').fill('What is 25 * 17?')
  await page.getByRole('button', { name: /Send/ }).click()
  await page.getByText('Start the server, or correct its address.').first().waitFor()
}

/** Stores the content of the pictures: the examples, two rewarded groups, a sample of slime and a server that does not run. */
async function store(base: string): Promise<Stored> {
  const post = async (route: string, body: BodyInit, headers: Readonly<Record<string, string>> = CHANGING) => {
    const response = await fetch(base + route, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`)
    return response
  }
  const imported = async (file: BodyInit, options = '') => {
    const bytes = { ...CHANGING, 'content-type': 'application/octet-stream' }
    const { trajectories } = await (await post(`/api/import${options}`, file, bytes)).json()
    return trajectories[0] as string
  }
  const examples = ['tool-error', 'parallel-calls', 'retokenization-drift', 'two-steps']
  const keys: string[] = []
  for (const name of examples) keys.push(await imported(readFileSync(`public/examples/${name}.json`)))
  const exported = await fetch(`${base}/api/trajectories/${keys.at(-1)}/export?format=slime`, { headers: AUTHORIZED })
  const slimeKey = await imported(await exported.text(), '?name=step+12&tokenizer=tiny-qwen3&parser=hermes')
  const group = async (samples: number, temperature: number) => {
    const request = {
      prompt: 'Alice has 36 apples and buys 19 more. How many apples does she have?',
      samples,
      tools: ['calculator'],
      sampling: { temperature, max_new_tokens: 200, sampling_seed: 13 },
      reward: { kind: 'number', expected: 55 },
    }
    const started = await (await post('/api/groups', JSON.stringify(request))).json()
    await (await fetch(`${base}/api/groups/${started.groupId}/events`, { headers: AUTHORIZED })).text()
    return started
  }
  const branch = async (key: string, body: object): Promise<string> => {
    const request = JSON.stringify({ at: BRANCHED_TOKEN, ...body })
    const { keys, rollouts } = await (await post(`/api/trajectories/${key}/branch`, request)).json()
    for (const id of rollouts) await (await fetch(`${base}/api/rollouts/${id}/events`, { headers: AUTHORIZED })).text()
    return keys[0]
  }
  await group(2, 0.5)
  const { groupId, samples } = await group(4, 1.4)
  await imported(TRAINER_FILE, '?name=miles.json')
  for (const file of GROUP_FILES) await imported(file)
  const branchedKey = keys[2] as string
  await branch(branchedKey, { n: 2, sampling: { temperature: 1.2, max_new_tokens: 120 } })
  const forcedKey = await branch(branchedKey, { force: { text: ' Let' } })
  await post('/sessions', JSON.stringify({ session_id: SESSION }))
  await runHarness({ origin: `${base}/sessions/${SESSION}`, key: TOKEN })
  await post('/api/servers', JSON.stringify({ name: 'gpu-box', baseUrl: 'http://127.0.0.1:9' }))
  const failedKey = await failedSample()
  let estimate = await (await post(`/api/trajectories/${failedKey}/value`, '{"range": {"surprising": 10}}')).json()
  while (estimate.state === 'running') {
    await delay(500)
    estimate = await (await fetch(`${base}/api/values/${estimate.id}`, { headers: AUTHORIZED })).json()
  }
  return { groupId, sampleKey: samples[2].trajectoryId, slimeKey, forcedKey, failedKey }

  /** Returns the key of a sample that did not give the expected answer. */
  async function failedSample(): Promise<string> {
    for (let seed = 3; ; seed += 100) {
      const request = {
        prompt: 'What is 25 * 17?',
        samples: 24,
        tools: ['calculator'],
        sampling: { temperature: 1, max_new_tokens: 120, sampling_seed: seed },
        reward: { kind: 'number', expected: 425 },
      }
      const started = await (await post('/api/groups', JSON.stringify(request))).json()
      await (await fetch(`${base}/api/groups/${started.groupId}/events`, { headers: AUTHORIZED })).text()
      const answer = await fetch(`${base}/api/groups/${started.groupId}`, { headers: AUTHORIZED })
      const { samples } = (await answer.json()) as {
        readonly samples: readonly { readonly key: string; readonly reward: number | null }[]
      }
      const failed = samples.find(({ reward }) => reward === 0)
      if (failed) return failed.key
    }
  }
}

/**
 * Files that are imported. They are written before the first request, because writing them takes seconds. If the server closes an idle
 * connection meanwhile, the next request is sent on it and fails with EPIPE.
 */
const TRAINER_FILE = encode(trainerTrajectory(RATIOS))
const GROUP_FILES = groupTrajectories('41-07').map((sample) => encode(sample))

/** The folder with the tokenizer of the pushed sample. */
const TOKENIZERS = { ROLLSCOPE_TOKENIZERS: path.resolve(import.meta.dirname, '../models') }

mkdirSync(FOLDER, { recursive: true })
const wanted = process.argv.slice(2)
await withBench(async ({ base, newContext }) => {
  const all = pictures(await store(base))
  const context = await newContext()
  for (const [name, { address, height, prepare, part }] of Object.entries(all)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const page = await context.newPage()
    const quiet = whenQuiet(page)
    await page.setViewportSize({ width: WIDTH, height })
    await page.goto(new URL(address, base).href)
    await quiet()
    await prepare?.(page)
    await quiet()
    const file = path.join(FOLDER, `${name}.png`)
    await (part === undefined ? page : page.getByRole(part)).screenshot({
      path: file,
      animations: 'disabled',
      caret: 'hide',
    })
    await page.close()
    const { size } = statSync(file)
    console.log(`${path.relative('.', file)}  ${size.toLocaleString('en-US')} bytes`)
    if (size > LARGEST_BYTES) {
      console.error(`${name} is larger than ${LARGEST_BYTES} bytes: choose a lower window`)
      process.exitCode = 1
    }
  }
}, TOKENIZERS)
