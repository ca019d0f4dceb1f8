/** Tools of a real MCP server, over HTTP, chosen on the page and called by a run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { expect, test } from '@playwright/test'
import { AUTHORIZED, ask, CHANGING, idle, open } from './application.ts'
import { expectFit, SCREENS } from './fit.ts'
import { freePort } from './free-port.ts'
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts'

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

let scripted: ScriptedServer
let url: string
let stop: () => Promise<void>
test.beforeAll(async () => {
  scripted = await startScriptedServer()
  const port = await freePort()
  const child = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  url = `http://127.0.0.1:${port}/mcp`
  stop = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await expect
    .poll(() =>
      fetch(url).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(400)
})
test.afterAll(async () => {
  await scripted.close()
  await stop()
})
test.beforeEach(async ({ request }) => {
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'scripted', baseUrl: scripted.baseUrl } })
})
test.afterEach(async ({ request }) => {
  await request.delete('/api/servers/scripted', { headers: CHANGING, data: {} })
  await request.delete('/api/mcp-servers/everything', { headers: CHANGING, data: {} })
})

const call = (name: string, input: object) => `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`

test('a server is added, its tools are chosen, and the run calls them side by side', async ({ page, request }) => {
  scripted.texts.push(call('echo', { message: 'Grüße' }) + call('get-sum', { a: 2, b: 'x' }), 'Done.')
  await open(page)
  await page.getByLabel('SGLang server').selectOption('scripted')
  await page.getByRole('button', { name: 'MCP …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Tools of MCP servers' })
  await dialog.getByLabel('Name').fill('everything')
  await dialog.getByLabel('URL').fill('http://169.254.169.254/mcp')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await expect(dialog).toContainText('link-local')
  await dialog.getByLabel('URL').fill(url)
  await dialog.getByRole('button', { name: 'Add' }).click()
  const everything = dialog.getByRole('region', { name: 'everything' })
  await everything.getByRole('button', { name: 'Show its tools' }).click()
  await everything.getByRole('checkbox', { name: 'echo', exact: true }).check()
  await everything.getByRole('checkbox', { name: 'get-sum', exact: true }).check()
  // Another server's tool of a name that is taken cannot be chosen, and says whose it is.
  const program = dialog.getByRole('region', { name: 'program' })
  await program.getByRole('button', { name: 'Show its tools' }).click()
  await expect(
    program.getByRole('checkbox', { name: 'echo', exact: true, description: /MCP server everything/ }),
  ).toBeDisabled()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'MCP …' })).toBeFocused()
  await expect(page.getByRole('checkbox', { name: 'echo', description: 'MCP · everything' })).toBeChecked()
  await ask(page, 'Say it.')
  await idle(page)
  await expect(page.locator('[data-call="call_0000"]')).toContainText('Echo: Grüße')
  await expect(page.locator('[data-call="call_0001"]')).toContainText(/b: expected a number/)
  const { trajectories } = await (await request.get('/api/trajectories?limit=1', { headers: AUTHORIZED })).json()
  const stored = await (await request.get(`/api/trajectories/${trajectories[0].key}`, { headers: AUTHORIZED })).json()
  expect(stored.model.tools.map(({ name, mcp }: { name: string; mcp?: object }) => [name, mcp])).toEqual([
    ['calculator', undefined],
    ['echo', { server: 'everything' }],
    ['get-sum', { server: 'everything' }],
  ])
})

test('a program of the configuration: chosen and called; one that dies in a call is told, and started again by the next', async ({
  page,
}) => {
  scripted.texts.push(
    call('echo', { message: 'Grüße' }),
    call('echo', { message: 'die' }),
    call('echo', { message: 'again' }),
    'Done.',
  )
  await open(page)
  await page.getByLabel('SGLang server').selectOption('scripted')
  await page.getByRole('button', { name: 'MCP …' }).click()
  const program = page.getByRole('dialog').getByRole('region', { name: 'program' })
  await expect(program).toContainText('program node · from ROLLSCOPE_MCP')
  await program.getByRole('button', { name: 'Show its tools' }).click()
  await program.getByRole('checkbox', { name: 'echo', exact: true }).check()
  await page.keyboard.press('Escape')
  await ask(page, 'Say it.')
  await idle(page)
  await expect(page.locator('[data-call="call_0000"]')).toContainText('Echo: Grüße')
  await expect(page.locator('[data-call="call_0001"]')).toContainText(
    'Error: the MCP server program gave no result: the connection closed before it answered; it said:',
  )
  await expect(page.locator('[data-call="call_0001"]')).toContainText('the disk is full')
  await expect(page.locator('[data-call="call_0002"]')).toContainText('Echo: again')
})

test('a long result is cut by the setting alone, and says so', async ({ page, request }) => {
  await request.post('/api/mcp-servers', { headers: CHANGING, data: { name: 'everything', url } })
  scripted.texts.push(call('echo', { message: 'lorem '.repeat(100) }), 'Done.')
  const answer = await request.post('/api/rollouts', {
    headers: CHANGING,
    data: {
      prompt: 'Say it.',
      server: 'scripted',
      tools: [{ mcp: 'everything', name: 'echo' }],
      limits: { maxResultCharacters: 150 },
      promptLogprobs: false,
    },
  })
  expect(answer.status()).toBe(200)
  await open(page, `/?t=${encodeURIComponent(answer.headers()['x-trajectory-id'] ?? '')}`)
  await expect(page.locator('[data-call="call_0000"]')).toContainText('characters left out')
  await expect(page.locator('[data-call="call_0000"]')).toContainText('of 606 characters')
})

test('a server that is not there says so before anything starts', async ({ request }) => {
  await request.post('/api/mcp-servers', {
    headers: CHANGING,
    data: { name: 'everything', url: 'http://127.0.0.1:9/mcp' },
  })
  const answer = await request.post('/api/rollouts', {
    headers: CHANGING,
    data: { prompt: 'Hi', tools: [{ mcp: 'everything', name: 'echo' }] },
  })
  expect([answer.status(), (await answer.json()).code]).toEqual([502, 'MCP_FAILED'])
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('the dialogs fit', async ({ page, request }) => {
      await request.post('/api/mcp-servers', { headers: CHANGING, data: { name: 'everything', url } })
      await open(page)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Setup', exact: true }).click()
      await page.getByRole('button', { name: 'MCP …' }).click()
      await page.locator('[data-mcp-server="everything"]').getByRole('button', { name: 'Show its tools' }).click()
      await expect(page.getByRole('checkbox', { name: 'echo', exact: true })).toBeVisible()
      await expectFit(page)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Import …' }).click()
      await page
        .getByLabel('Tools, JSON')
        .fill('[{"name": "ping", "inputSchema": {"type": "object"}}, {"name": "a b", "inputSchema": {}}]')
      await expect(page.locator('[data-imported]')).toBeVisible()
      await expectFit(page)
    })
  })
