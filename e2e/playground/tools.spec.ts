/** Tools of a run: a mock tool defined on the page, Python, and tools of MCP servers over HTTP and of a program. */
import { createServer } from 'node:http'
import { expect, type Page, test } from '@playwright/test'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { ask, CHANGING, idle, open, reload, stored } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

const editor = (page: Page) => page.getByRole('dialog', { name: 'Mock tool' })
const call = (name: string, input: object) => `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`

/** Starts an MCP server over HTTP whose only tool repeats a message. */
async function startEcho(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const inputSchema = { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] }
  const results: Record<string, (params: { protocolVersion?: string; arguments?: { message: string } }) => object> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'echo', version: '1' },
    }),
    'tools/list': () => ({ tools: [{ name: 'echo', description: 'Repeats a message.', inputSchema }] }),
    'tools/call': ({ arguments: input }) => ({ content: [{ type: 'text', text: `Echo: ${input?.message}` }] }),
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params = {} } = JSON.parse(body)
    if (id === undefined) return response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.(params) ?? {} }))
  })
  return {
    url: `${await listeningUrl(server)}/mcp`,
    close: () => closeServer(server),
  }
}

test('A mock tool, Python and MCP tools are chosen in the page, called by one run, and stored with it', async ({
  page,
  request,
}) => {
  const [scripted, echo] = await Promise.all([startScriptedServer(), startEcho()])
  for (const address of ['servers/scripted', 'mcp-servers/echo'])
    await request.delete(`/api/${address}`, { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'scripted', baseUrl: scripted.baseUrl } })
  const wrongs = watch(page)

  await open(page)
  // A narrow window shows the setup and its dialogs.
  await page.setViewportSize(WINDOWS[1])
  await page.getByRole('button', { name: 'Setup', exact: true }).click()
  await page.setViewportSize(WINDOWS[0])
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('scripted')
  await page.getByRole('checkbox', { name: 'calculator' }).uncheck()

  await test.step('a mock tool is defined by keyboard', async () => {
    const add = page.getByRole('button', { name: 'Add a mock tool' })
    await add.focus()
    await page.keyboard.press('Enter')
    await expect(editor(page).getByLabel('Name')).toBeFocused()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText('forecast')
    for (let step = 0; step < 6; step++) await page.keyboard.press('Tab')
    await expect(editor(page).getByLabel('Try it with arguments, JSON')).toBeFocused()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText('{"city": "Bern"}')
    await expect(editor(page).getByText('Sunny in Bern.')).toBeVisible()
    await page.keyboard.press('ControlOrMeta+Enter')
    await expect(editor(page)).toHaveCount(0)
    await expect(page.getByRole('checkbox', { name: /forecast/ })).toBeChecked()
    await expect(add).toBeFocused()

    // A click beside the editor could lose the typed text, so only Escape closes it.
    await page.keyboard.press('Enter')
    await expect(editor(page)).toBeVisible()
    await page.mouse.click(5, 5)
    await expect(editor(page)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(editor(page)).toHaveCount(0)
  })

  await test.step('an MCP server is added, and one of its tools is chosen', async () => {
    await page.getByRole('button', { name: 'MCP…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Tools of MCP servers' })
    await dialog.getByLabel('Name').fill('echo')
    await dialog.getByLabel('URL').fill('http://169.254.169.254/mcp')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await expect(dialog).toContainText('link-local')
    await dialog.getByLabel('URL').fill(echo.url)
    await dialog.getByRole('button', { name: 'Add' }).click()
    const added = dialog.getByRole('region', { name: 'echo' })
    await added.getByRole('button', { name: 'Show tools' }).click()
    await added.getByRole('checkbox', { name: 'echo', exact: true }).check()
    const program = dialog.getByRole('region', { name: 'program' })
    await expect(program).toContainText('program node · from ROLLSCOPE_MCP')
    await program.getByRole('button', { name: 'Show tools' }).click()
    await program.getByRole('checkbox', { name: 'get-sum', exact: true }).check()
    // A tool whose name is in use cannot be chosen, and the page names the server of the other tool.
    await expect(
      program.getByRole('checkbox', { name: 'echo', exact: true, description: /MCP server echo/ }),
    ).toBeDisabled()
    await expectFitEverywhere(page, () => expect(dialog).toBeVisible())
    await page.setViewportSize(WINDOWS[0])
    await page.keyboard.press('Escape')
    await expect(page.getByRole('button', { name: 'MCP…' })).toBeFocused()
    await expect(page.getByRole('checkbox', { name: 'echo', description: 'MCP · echo' })).toBeChecked()
  })

  await test.step('the import of tools fits every window', async () => {
    await page.getByRole('button', { name: 'Import…' }).click()
    await page
      .getByLabel('Tools, JSON')
      .fill('[{"name": "ping", "inputSchema": {"type": "object"}}, {"name": "a b", "inputSchema": {}}]')
    await expectFitEverywhere(page, () => expect(page.locator('[data-imported]')).toBeVisible())
    await page.setViewportSize(WINDOWS[0])
    await page.keyboard.press('Escape')
  })

  await test.step('the tools are chosen after a reload, and the model calls them', async () => {
    const python = page.getByRole('checkbox', { name: 'python', description: /no network/ })
    await expect(python).not.toBeChecked()
    await python.check()
    await reload(page)
    for (const name of ['forecast', 'python', 'echo', 'get-sum'])
      await expect(page.getByRole('checkbox', { name, exact: true })).toBeChecked()
    const code = 'def area(r):\n    return 3.0 * r ** 2\n\nfor r in range(3):\n    print(r, area(r))\narea(10)'
    scripted.texts.push(
      call('forecast', { city: 'Rome' }) +
        call('python', { code }) +
        call('echo', { message: 'Grüße' }) +
        call('get-sum', { a: 2, b: 3 }),
      'Done.',
    )
    await ask(page, 'Call them.')
    await idle(page)
    const card = (number: number) => page.locator(`[data-call="call_000${number}"]`)
    await expect(card(0)).toContainText('mock')
    await expect(card(0)).toContainText('city: "Rome"')
    await expect(card(0)).toContainText('Sunny in Rome.')
    await expect(card(1)).toContainText('0 0.0\n1 3.0\n2 12.0\n300.0')
    await expect(card(2)).toContainText('Echo: Grüße')
    await expect(card(3)).toContainText('The sum of 2 and 3 is 5')
    await expect(page.getByRole('complementary', { name: 'Run' })).toContainText('4 ✓ 0 ✗')
    // Each line of the code is a line of the card.
    const tops = await card(1)
      .locator('dd')
      .evaluate((shown) => {
        const node = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT).nextNode() as Text
        return ['def area(r):', '    return 3.0'].map((line) => {
          const range = document.createRange()
          range.setStart(node, node.data.indexOf(line))
          range.setEnd(node, node.data.indexOf(line) + line.length)
          return range.getBoundingClientRect().top
        })
      })
    expect(tops[1]).toBeGreaterThan(tops[0] as number)
  })

  await test.step('the tools are part of the trajectory', async () => {
    const { model } = (await stored(page, request)) as unknown as { model: { tools: object[] } }
    expect(model.tools).toMatchObject([
      { name: 'forecast', mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } } },
      { name: 'echo', mcp: { server: 'echo' } },
      { name: 'get-sum', mcp: { server: 'program' } },
      { name: 'python' },
    ])
    await expect(page.getByRole('checkbox', { name: /forecast/ })).toBeDisabled()
    await expect(page.getByRole('button', { name: 'Show forecast' })).toBeVisible()
  })
  // The address of the MCP server was refused once.
  expect(wrongs).toEqual([expect.stringContaining('400')])
  await Promise.all([scripted.close(), echo.close()])
})

test('A tool whose name is wider than the setup is wrapped, with its note below', async ({ page }) => {
  const setup = { tools: ['a_tool_with_a_name_that_is_longer_than_the_pane_of_the_setup_is_wide'] }
  await page.addInitScript((text) => localStorage.setItem('rollscope.setup', text), JSON.stringify(setup))
  await open(page)
  const note = page.getByText('unknown here: it cannot be run')
  await expect(note).toBeVisible()
  const pane = page.getByRole('complementary', { name: 'Setup' })
  expect(await pane.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
})
