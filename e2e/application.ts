/** The application under test, and how tests talk to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { type APIRequestContext, expect, type Page, type Request } from '@playwright/test'
import { currentBuild } from '../scripts/build.ts'
import { freePort } from './free-port.ts'

/** Of the ports that the journeys take: E2E_PORT moves them all, where another checkout runs its own. */
const FIRST_PORT = Number(process.env.E2E_PORT ?? 3198)
/** Each worker of the journeys has an application of its own, with data of its own. */
export const PORTS = [FIRST_PORT + 1, FIRST_PORT + 3] as const
/** That of this worker. */
export const PORT = PORTS[Number(process.env.TEST_PARALLEL_INDEX ?? 0)] as number
/** Where the application looks for the Hub; nothing listens there unless a test starts one. */
export const HUB_PORT = FIRST_PORT
export const TOKEN = 'token-of-the-journeys-0123'
export const BASE = `http://127.0.0.1:${PORT}`

export const AUTHORIZED = { authorization: `Bearer ${TOKEN}` } as const
export const CHANGING = { ...AUTHORIZED, 'x-rollscope': '1', 'content-type': 'application/json' } as const

/** Opens a page as a user does the first time: with the token in the address. */
export async function open(page: Page, path = '/', base = BASE): Promise<void> {
  const address = new URL(path, base)
  address.searchParams.set('token', TOKEN)
  await page.goto(address.href)
  await page.waitForURL((url) => !url.searchParams.has('token'))
  await page.waitForFunction(isHydrated)
}

/**
 * Whether every control is React's, but those that the token view draws by itself. What is filled in while React takes a field
 * over stands beside its first value.
 */
const isHydrated = (): boolean =>
  [...document.querySelectorAll(':is(input, textarea, select, button, details):not([role="grid"] *)')].every(
    (control) => Object.keys(control).some((key) => key.startsWith('__reactProps$')),
  )

/**
 * Follows what the page asks for, from now on. The function that is returned waits until nothing was asked for in half a second: Playwright's
 * `networkidle` would count the health of the application too, for which every page asks each second.
 */
export function whenQuiet(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let changedAt = performance.now()
  const isCounted = (request: Request) => !request.url().endsWith('/api/health')
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

/** Asks, and waits for the answer. */
export async function ask(page: Page, question: string): Promise<void> {
  const grid = page.locator('[data-tokens]')
  const before = (await grid.count()) > 0 ? await grid.getAttribute('data-tokens') : '0'
  await page.getByLabel(/^(Question|Next turn)$/).fill(question)
  await page.getByRole('button', { name: /Send/ }).click()
  await page.locator(`[data-idle="true"]:not([data-tokens="${before}"])`).waitFor()
}

/** Greedy, so that a run can be told again. */
export async function greedy(page: Page): Promise<void> {
  await page.getByLabel('temperature').fill('0')
}

/** The key of the trajectory that the page shows: the address follows what happens a moment later. */
export async function shownKey(page: Page): Promise<string> {
  await page.waitForURL((url) => url.searchParams.has('t'))
  return new URL(page.url()).searchParams.get('t') as string
}

/** The trajectory that the page shows, from the store. */
export async function stored(
  page: Page,
  request: APIRequestContext,
): Promise<Record<string, unknown> & { segments: Segment[] }> {
  const key = await shownKey(page)
  return (await request.get(`/api/trajectories/${encodeURIComponent(key)}`, { headers: AUTHORIZED })).json()
}

export interface Segment {
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
/** Returns the path of a file of the build that the application serves. Throws where there is no build. */
export function builtFile(file: string): string {
  build ??= currentBuild()
  return path.join(build, file)
}

interface Application {
  readonly base: string
  readonly child: ChildProcess
}

/** A second one, with data of its own. `own`: further variables of its environment. */
export async function startApplication(data: string, own: Readonly<Record<string, string>> = {}): Promise<Application> {
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/serve.ts'], {
    env: { ...process.env, PORT: String(port), ROLLSCOPE_DATA: data, ROLLSCOPE_TOKEN: TOKEN, ...own },
  })
  let log = ''
  child.stdout?.on('data', (chunk) => {
    log += chunk
  })
  await expect.poll(() => log, { timeout: 90_000 }).toContain('SGLang ')
  return { base: `http://127.0.0.1:${port}`, child }
}

/** Its exit status. */
export async function stopApplication({ child }: Application, signal: NodeJS.Signals): Promise<number | null> {
  const closed = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill(signal)
  return closed
}
