/** `rollscope open` as a user runs it: the real program, beside a running application and without one. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, test } from '@playwright/test'
import { startApplication, stopApplication, TOKEN } from '../support/application.ts'
import { freePort } from '../support/free-port.ts'

const FOREIGN = path.resolve('lib/formats/golden/foreign')
let data: string
test.beforeEach(() => {
  data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-e2e-'))
})
test.afterEach(() => rmSync(data, { recursive: true, force: true }))

const rollscope = (files: readonly string[], own: Readonly<Record<string, string>> = {}) =>
  spawn(process.execPath, [path.resolve('bin/rollscope.js'), 'open', ...files], {
    cwd: FOREIGN,
    env: { ...process.env, ROLLSCOPE_DATA: data, ...own },
  })

test('Files that the command opens are stored by the running application, and their address shows the tokens', async ({
  page,
}) => {
  const application = await startApplication(data)
  try {
    const child = rollscope(['verifiers-traces.jsonl', 'hf-tokens.parquet', 'nothing.jsonl'])
    child.stdin.end()
    const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(complaint).toMatch(/^nothing\.jsonl: There is no such file/)
    expect(output).toMatch(/^verifiers-traces\.jsonl: \d+ trajectories/)
    const links = output.match(/http\S+/g) ?? []
    expect(links).toHaveLength(2)
    await page.goto(links[0] ?? '')
    await expect(page.locator('.token-row').first()).toBeVisible()
    expect(page.url()).not.toContain(TOKEN)
  } finally {
    await stopApplication(application, 'SIGTERM')
  }
})

test('Without a running application the command starts one, which stores standard input and runs until it is stopped', async ({
  page,
}) => {
  const child = rollscope(['-'], { PORT: String(await freePort()) })
  child.stdin.end('{"messages": [{"role": "user", "content": "From a pipe"}]}\n')
  try {
    let link: string | undefined
    for await (const line of createInterface({ input: child.stdout })) {
      link = /http\S+\/t\/\S+/.exec(line)?.[0]
      if (link !== undefined) break
    }
    await page.goto(link ?? '')
    await expect(page.getByText('From a pipe').first()).toBeVisible()
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  }
})
