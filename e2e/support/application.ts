/** The application under test, and functions with which journeys use it. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { type APIRequestContext, expect, type Page, type Request } from '@playwright/test'
import { currentBuild } from '../../scripts/build.ts'
import { freePort } from './free-port.ts'

/** First of the ports of the journeys. E2E_PORT moves all of them, for another checkout that runs at the same time. */
const FIRST_PORT = Number(process.env.E2E_PORT ?? 3198)
/** Port of the application of each worker. Every worker has an application with data of its own. */
export const PORTS = [FIRST_PORT + 1, FIRST_PORT + 3] as const
/** Port of this worker's application. */
export const PORT = PORTS[Number(process.env.TEST_PARALLEL_INDEX ?? 0)] as number
/** Port where the application expects the Hub; nothing listens there unless a test starts a test Hub. */
export const HUB_PORT = FIRST_PORT
/** Launch token of every application in the journeys. */
export const TOKEN = 'token-of-the-journeys-0123'
/** Base URL of this worker's application. */
export const APPLICATION_URL = `http://127.0.0.1:${PORT}`

/** Headers of a request that only reads. */
export const AUTHORIZED = { authorization: `Bearer ${TOKEN}` } as const
/** Headers of a request that changes state. */
export const CHANGING = { ...AUTHORIZED, 'x-rollscope': '1', 'content-type': 'application/json' } as const

/** Opens a page as a user does the first time: with the token in the address. Waits until React has hydrated it. */
export async function open(page: Page, path = '/', base = APPLICATION_URL): Promise<void> {
  const address = new URL(path, base)
  address.searchParams.set('token', TOKEN)
  await page.goto(address.href)
  await page.waitForURL((url) => !url.searchParams.has('token'))
  await page.waitForFunction(isHydrated)
}

/**
 * Returns whether React has hydrated every control, except those that the token view draws itself. A field that is filled in
 * before that keeps its first value beside the new one.
 */
const isHydrated = (): boolean =>
  [...document.querySelectorAll(':is(input, textarea, select, button, details):not([role="grid"] *)')].every(
    (control) => Object.keys(control).some((key) => key.startsWith('__reactProps$')),
  )

/**
 * Follows the page's requests from now on. The returned function waits until there was no request for half a second.
 * Playwright's `networkidle` would also count the health check and the revision, which pages request again and again.
 */
export function whenQuiet(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let changedAt = performance.now()
  const isCounted = (request: Request) => !/\/(api\/health|revision)$/.test(request.url())
  page.on('request', (request) => {
    if (!isCounted(request)) return
    open.add(request)
    changedAt = performance.now()
  })
  const onEnd = (request: Request) => {
    if (open.delete(request)) changedAt = performance.now()
  }
  page.on('requestfinished', onEnd)
  page.on('requestfailed', onEnd)
  return () => expect.poll(() => open.size === 0 && performance.now() - changedAt > 500).toBe(true)
}

/** Waits until the token view shows a finished trajectory. */
export async function idle(page: Page): Promise<void> {
  await page.locator('[data-idle="true"]').waitFor()
}

/**
 * Reloads the page when it has nothing left to do. On a busy machine the router writes an earlier address again before the
 * last one, so a page that is reloaded at that moment would show the earlier view. Chromium reports no idle time while it
 * draws no frames, so each wait begins with a frame.
 */
export async function reload(page: Page): Promise<void> {
  for (let times = 0; times < 2; times++)
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve, { timeout: 2_000 }))),
    )
  await page.reload()
}

/** Takes the focus from the element that has it, as on a page that was just opened. */
export async function blur(page: Page): Promise<void> {
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
}

/** Sends a question and waits for the answer. */
export async function ask(page: Page, question: string): Promise<void> {
  const grid = page.locator('[data-tokens]')
  const before = (await grid.count()) > 0 ? await grid.getAttribute('data-tokens') : '0'
  await page.getByLabel(/^(Question|Next turn)$/).fill(question)
  await page.getByRole('button', { name: /Send/ }).click()
  await page.locator(`[data-idle="true"]:not([data-tokens="${before}"])`).waitFor()
}

/** Sets the temperature to 0, so that the run is reproducible. */
export async function greedy(page: Page): Promise<void> {
  await page.getByLabel('temperature').fill('0')
}

/** Returns the key of the shown trajectory. Waits for the address, which changes shortly after the page. */
export async function shownKey(page: Page): Promise<string> {
  await page.waitForURL((url) => url.searchParams.has('t'))
  return new URL(page.url()).searchParams.get('t') as string
}

/** Returns the shown trajectory from the store. */
export async function stored(
  page: Page,
  request: APIRequestContext,
): Promise<Record<string, unknown> & { segments: StoredSegment[] }> {
  const key = await shownKey(page)
  return (await request.get(`/api/trajectories/${encodeURIComponent(key)}`, { headers: AUTHORIZED })).json()
}

/** Imports a file, or an object as its JSON, and returns the keys of its trajectories. `name` is that of the file. */
export async function postImport(
  request: APIRequestContext,
  file: string | Buffer | object,
  name?: string,
): Promise<readonly [string, ...string[]]> {
  const content = typeof file === 'string' || Buffer.isBuffer(file) ? file : JSON.stringify(file)
  const response = await request.post(
    `${APPLICATION_URL}/api/import${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}`,
    { headers: { ...CHANGING, 'content-type': 'application/octet-stream' }, data: Buffer.from(content) },
  )
  expect(response.ok(), await response.text()).toBe(true)
  return (await response.json()).trajectories
}

/** Fields of a stored segment that journeys read. */
export interface StoredSegment {
  readonly kind: 'prompt' | 'response'
  readonly ids: readonly number[]
  readonly logprobs?: readonly (number | null)[]
  readonly toolCalls?: readonly {
    readonly kind: string
    readonly name?: string
    readonly result?: { readonly text: string }
  }[]
  readonly finish?: { readonly kind: string }
}

let build: string | undefined
/** Returns the path of a file of the build that the application serves. Throws if there is no build. */
export function builtFile(file: string): string {
  build ??= currentBuild()
  return path.join(build, file)
}

/** A running application with data of its own. */
export interface Application {
  readonly base: string
  readonly child: ChildProcess
}

/** Starts another application with data of its own. `own` adds variables to its environment. */
export async function startApplication(data: string, own: Readonly<Record<string, string>> = {}): Promise<Application> {
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/start.js'], {
    env: { ...process.env, PORT: String(port), ROLLSCOPE_DATA: data, ROLLSCOPE_TOKEN: TOKEN, ...own },
  })
  let log = ''
  child.stdout?.on('data', (chunk) => {
    log += chunk
  })
  await expect.poll(() => log, { timeout: 90_000 }).toContain('SGLang ')
  return { base: `http://127.0.0.1:${port}`, child }
}

/** Ends an application with a signal and returns its exit status. */
export async function stopApplication({ child }: Application, signal: NodeJS.Signals): Promise<number | null> {
  const closed = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill(signal)
  return closed
}
