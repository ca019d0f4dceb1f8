/** A run from its question to its end: sent, drawn, stopped, continued and restored. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, ask, CHANGING, greedy, idle, open, reload, shownKey, stored } from '../support/application.ts'
import { expectFit, expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'
import { startSlowServer } from '../support/slow-server.ts'
import { CORE } from '../support/tags.ts'

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })
const count = async (page: Page) => Number(await page.locator('[data-tokens]').getAttribute('data-tokens'))

/** Functions that close the servers that a test started. */
const closing: (() => unknown)[] = []
test.afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function saveServer(request: APIRequestContext, name: string, baseUrl: string): Promise<void> {
  await request.delete(`/api/servers/${name}`, { headers: CHANGING, data: {} })
  const saved = await request.post('/api/servers', { headers: CHANGING, data: { name, baseUrl } })
  expect(saved.status()).toBe(201)
}

/** Returns the colour of every token, from the rows that are drawn while the token view scrolls from start to end. */
const drawnInks = (page: Page): Promise<readonly (string | undefined)[]> =>
  grid(page).evaluate(async (element) => {
    const inks: (string | undefined)[] = []
    element.scrollTo(0, 0)
    for (let isAtEnd = false; !isAtEnd; ) {
      // Rows are drawn in a frame; the second frame begins after that.
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
      for (const { dataset } of element.querySelectorAll<HTMLElement>('.token-row:not([hidden])'))
        for (let i = 0; i < Number(dataset.count); i++) inks[Number(dataset.first) + i] = dataset.ink
      isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1
      element.scrollBy(0, 300)
    }
    return inks
  })

test('the first question is sent by keyboard, the agent calculates, and every token can be read', {
  tag: CORE,
}, async ({ page, request, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const wrongs = watch(page)
  await open(page)
  await greedy(page)
  await page.getByLabel('Question').focus()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('What is 25 * 17, and then plus 9?')
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByRole('button', { name: /New run/ }).waitFor()
  await idle(page)
  const { segments } = await stored(page, request)
  const ids = segments.flatMap((segment) => segment.ids)

  await test.step('the run calls the calculator twice', async () => {
    expect(segments.map(({ kind }) => kind)).toEqual(['prompt', 'response', 'prompt', 'response', 'prompt', 'response'])
    const responses = segments.filter(({ kind }) => kind === 'response')
    expect(responses.flatMap(({ toolCalls }) => toolCalls?.map(({ result }) => result?.text))).toEqual(['425', '434'])
    for (const segment of responses) expect(segment.logprobs).toHaveLength(segment.ids.length)
    const run = page.getByRole('complementary', { name: 'Run' })
    await expect(run).toContainText('2 ✓ 0 ✗')
    await expect(run).toContainText('prefix exact ✓')
    await expect(page.locator('[data-call]')).toHaveCount(2)
    await expect(page.locator('[data-call="call_0000"]')).toContainText('expression: "25 * 17"')
    await expect(page.locator('[data-call="call_0000"]')).toContainText('425')
  })

  await test.step('rows contain every token once, and mark the trained ones', async () => {
    expect(await count(page)).toBe(ids.length)
    expect(await drawnInks(page)).toEqual(
      segments.flatMap(({ kind, ids }) => ids.map(() => (kind === 'response' ? 'trained' : 'context'))),
    )
  })

  const card = page.getByRole('region', { name: 'Token', exact: true })
  const selected = page.locator('#token-selected')
  await test.step('a token is pinned and unpinned by keyboard, and a range is copied', async () => {
    const colour = page.getByLabel('More colour modes')
    await colour.focus()
    await page.keyboard.type('Plain')
    await expect(colour).toHaveValue('none')
    await grid(page).focus()
    for (const key of ['Home', 'ArrowRight', 'j']) await page.keyboard.press(key)
    await expect(selected).toHaveAttribute('data-index', '2')
    await expect(selected).toHaveAttribute('data-id', String(ids[2]))
    await expect(selected).toHaveAttribute('data-trained', 'false')
    await page.keyboard.press('J')
    await expect(selected).toHaveAttribute('data-trained', 'true')
    await expect(card).toContainText('1 · trained')
    await expect(card.getByRole('row')).toHaveCount(5)
    for (const key of ['g', 'Shift+ArrowRight', 'Shift+ArrowRight']) await page.keyboard.press(key)
    await expect(page.getByRole('region', { name: 'Range', exact: true })).toHaveAttribute('data-range', '0-2')
    await page.keyboard.press('Control+c')
    await expect(page.getByRole('status').filter({ hasText: 'Text copied' })).toBeVisible()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^<\|im_start\|>/)
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Send the question')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(grid(page)).toBeFocused()
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
    await expect(card).toHaveCount(0)
  })

  await test.step('the card shows the token under the pointer', async () => {
    await page
      .locator('.token-row:not([hidden])')
      .nth(2)
      .hover({ position: { x: 30, y: 10 } })
    await expect(card).toBeVisible()
    await page.mouse.move(700, 5)
    await expect(card).toHaveCount(0)
  })

  await test.step('a run with a chosen token fits, and its address restores token and colour', async () => {
    await page.keyboard.press('End')
    await expect(selected).toHaveAttribute('data-index', String(ids.length - 1))
    await expect(selected).toBeInViewport()
    await page.getByRole('button', { name: 'Mask' }).click()
    await page.waitForURL((url) => url.searchParams.get('colour') === 'mask')
    await expectFitEverywhere(page, async (isNarrow) => {
      if (!isNarrow) return
      await expectFit(page)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
    })
    await page.setViewportSize(WINDOWS[0])
    await reload(page)
    await expect(card).toHaveAttribute('data-token', String(ids.length - 1))
    await expect(page.getByRole('button', { name: 'Mask' })).toHaveAttribute('aria-pressed', 'true')
  })
  expect(wrongs).toEqual([])
})

test('the built-in server also answers at the root path, for clients that keep only an origin', { tag: CORE }, async ({
  request,
}) => {
  for (const path of ['/model_info', '/get_model_info', '/server_info', '/health', '/v1/models'])
    expect(await (await request.get(path)).text(), path).toBe(await (await request.get(`/sglang${path}`)).text())
  const body = { text: 'Hello', sampling_params: { temperature: 0, max_new_tokens: 4 } }
  const [atRoot, mounted] = await Promise.all(
    ['/generate', '/sglang/generate'].map(async (path) => (await request.post(path, { data: body })).json()),
  )
  expect(atRoot.output_ids).toHaveLength(4)
  expect(atRoot.output_ids).toEqual(mounted.output_ids)
  const parsed = await request.post('/separate_reasoning', { data: { text: 'a</think>b', reasoning_parser: 'step3' } })
  expect(await parsed.json()).toEqual({ reasoning_text: 'a', text: 'b' })
})

test('a slow run is drawn as it arrives, survives a reload, is followed to its end, and is stopped', async ({
  page,
  request,
}) => {
  const slow = await startSlowServer(60)
  closing.push(slow.close)
  await saveServer(request, 'slow', slow.baseUrl)
  await page.setViewportSize({ width: 1200, height: 500 })
  await open(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('slow')
  await greedy(page)
  await page.getByLabel('Question').fill('What is 25 * 17, and then plus 9?')
  await page.getByRole('button', { name: /Send/ }).click()
  const trained = page.locator('.token-row[data-ink="trained"]')
  await expect(trained.first()).toBeVisible()
  const key = await shownKey(page)
  const outcome = async () =>
    (await (await request.get(`/api/trajectories/${key}`, { headers: AUTHORIZED })).json()).outcome.kind

  await test.step('tokens are drawn as they arrive, after a reload too', async () => {
    const first = await count(page)
    await expect.poll(() => count(page)).toBeGreaterThan(first + 3)
    await reload(page)
    await expect(trained.first()).toBeVisible()
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible()
  })

  await test.step('a trajectory is continued by one run at a time', async () => {
    const second = await request.post(`/api/trajectories/${key}/continue`, {
      headers: CHANGING,
      data: { prompt: 'x', detached: true },
    })
    expect([second.status(), (await second.json()).code]).toEqual([409, 'RUNNING'])
  })

  await test.step('the view scrolls to the end, even if the rest arrives at once', async () => {
    // A message box stops the page while the run continues.
    page.once('dialog', async (box) => {
      await expect.poll(outcome).toBe('ended')
      await box.accept()
    })
    await page.evaluate(() => window.alert('wait'))
    await idle(page)
    await expect(page.locator('.token-row').filter({ hasText: '434.' }).last()).toBeInViewport()
    await expect(page.locator('[data-call]')).toHaveCount(2)
    const { segments } = await stored(page, request)
    expect(await count(page)).toBe(segments.reduce((sum, { ids }) => sum + ids.length, 0))
  })

  await test.step('Stop keeps the tokens and ends the generation', async () => {
    const before = await count(page)
    const { cut } = slow.generations
    await page.getByLabel('Next turn').fill('What is 12 * 7?')
    // The second click hits Stop, which has replaced Send, and must do nothing.
    await page.getByRole('button', { name: /Send/ }).dblclick()
    // The prompt arrives at once, the reply token by token.
    await expect.poll(() => count(page)).toBeGreaterThan(before)
    const withPrompt = await count(page)
    await expect.poll(() => count(page)).toBeGreaterThan(withPrompt + 4)
    await page.getByRole('button', { name: 'Stop' }).press('Enter')
    await expect(page.getByText('Stopped.')).toBeVisible()
    await expect(page.getByLabel('Next turn')).toBeFocused()
    await idle(page)
    const { segments } = await stored(page, request)
    expect(segments.at(-1)).toMatchObject({ kind: 'response', finish: { kind: 'cancelled' } })
    expect(segments.at(-1)?.ids.length).toBeGreaterThan(3)
    await expect.poll(() => slow.generations.cut).toBe(cut + 1)
  })

  await test.step('Resume continues the response from its own tokens', async () => {
    const before = (await stored(page, request)).segments
    const kept = before.at(-1)
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('built-in')
    await page.getByRole('button', { name: 'Resume the response' }).press('Enter')
    // The answer follows the result of the call.
    await expect.poll(async () => (await stored(page, request)).segments.length).toBe(before.length + 2)
    await page.getByRole('button', { name: /New run/ }).waitFor()
    // Stop had the focus while the run continued.
    await expect(page.getByLabel('Next turn')).toBeFocused()
    await idle(page)
    const { segments } = await stored(page, request)
    const resumed = segments[before.length - 1]
    expect(segments.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    expect(resumed?.ids.slice(0, kept?.ids.length)).toEqual(kept?.ids)
    expect(resumed?.logprobs?.slice(0, kept?.ids.length)).toEqual(kept?.logprobs)
    expect(resumed).toMatchObject({ finish: { kind: 'stop' }, resumed: [{ at: kept?.ids.length }] })
    // The call that was cut is a single call, and has been executed.
    expect(resumed?.toolCalls?.map(({ result }) => result?.text)).toEqual(['84'])
    await ask(page, 'What is 2 + 2?')
    expect((await stored(page, request)).segments.slice(0, segments.length)).toEqual(segments)
  })
})

test('a prompt that cannot be sent shows the reason, and the question is kept', async ({ page, request }) => {
  await saveServer(request, 'away', 'http://127.0.0.1:9')
  const silent = createServer(() => {})
  closing.push(() => {
    silent.closeAllConnections()
    silent.close()
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  await saveServer(request, 'silent', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  await open(page)
  const question = page.getByLabel('Question')
  const send = page.getByRole('button', { name: /Send/ })

  await test.step('a setting out of range is reported at its field', async () => {
    await page.getByLabel('temperature').fill('-1')
    await expect(page.getByText('must be a number from 0 to 100')).toBeVisible()
    await send.click()
    const alert = page.getByRole('alert').filter({ hasText: 'temperature must be a number from 0 to 100' })
    await expect(alert).toBeVisible()
    await expect(page.getByText('No run yet.')).toBeVisible()
    await page.getByLabel('temperature').fill('1')
    await expect(alert).toHaveCount(0)
  })

  await test.step('an unreachable server is named', async () => {
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('away')
    await expect(page.getByRole('status').filter({ hasText: 'nothing listens' })).toContainText(
      'Start the server, or correct its address',
    )
    await question.fill('Are you there?')
    await send.click()
    const refusal = page.getByRole('alert').filter({ hasText: 'Nothing listens' })
    await expect(refusal).toContainText(/away \(http:\/\/127\.0\.0\.1:\d+\)/)
    await expect(refusal.getByRole('link', { name: 'Open Servers' })).toHaveAttribute('href', '/servers?server=away')
    await expect(question).toHaveValue('Are you there?')
  })

  await test.step('a request to a server that accepts the connection and never answers can be cancelled', async () => {
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('silent')
    await send.click()
    await page.getByRole('button', { name: /Starting/ }).click()
    await expect(question).toHaveValue('Are you there?')
    await expect(send).toBeEnabled()
  })
})

test('turns continue with the same tokens; an address restores run and setup, by Back and Forward and in another tab', async ({
  page,
  request,
  context,
}) => {
  const calls = page.locator('[data-call]')
  const system = page.getByLabel('System prompt')
  const thinking = page.getByLabel('Thinking')
  await open(page)
  await greedy(page)
  await system.fill('Answer like a pirate.')
  await thinking.uncheck()
  await ask(page, 'What is 3 + 4?')
  const first = await shownKey(page)
  await expect(calls).toContainText('7')
  await expect(page.getByText(/^think ·/)).toHaveCount(0)

  await test.step('a new run has a setup of its own', async () => {
    await page.getByRole('button', { name: /New run/ }).click()
    await page.waitForURL((url) => !url.searchParams.has('t'))
    await expect(page.getByText('Run an agent, see every token')).toBeVisible()
    await system.fill('Be brief.')
    await thinking.check()
    await ask(page, 'What is 9 * 9 * 9?')
    await expect(calls).toContainText('729')
  })

  await test.step('Back shows the run and the setup with which it began', async () => {
    await page.goBack()
    await expect(page.getByText('Run an agent, see every token')).toBeVisible()
    await page.goBack()
    await page.waitForURL((url) => url.searchParams.get('t') === first)
    await idle(page)
    await expect(calls).toHaveCount(1)
    await expect(calls).toContainText('7')
    await expect(system).toHaveValue('Answer like a pirate.')
    await expect(thinking).not.toBeChecked()
  })

  await test.step('a trajectory that another tab has continued is updated before it continues', async () => {
    const other = await context.newPage()
    await other.goto(page.url())
    await idle(other)
    await expect(other.getByLabel('System prompt')).toHaveValue('Answer like a pirate.')
    const before = (await stored(other, request)).segments.flatMap(({ ids }) => ids)
    await ask(other, 'Now add 9.')
    const after = (await stored(other, request)).segments.flatMap(({ ids }) => ids)
    expect(after.slice(0, before.length)).toEqual(before)
    await other.close()
    await page.getByLabel('Next turn').fill('Now add 1.')
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(page.getByRole('alert').filter({ hasText: 'continued elsewhere' })).toBeVisible()
    await expect(page.getByLabel('Next turn')).toHaveValue('Now add 1.')
    await expect(calls).toHaveCount(2)
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(calls).toHaveCount(3)
    await idle(page)
    await expect(calls.last()).toContainText('17')
  })

  await test.step('the playground begins a new run, and Back restores the earlier one', async () => {
    await page.getByRole('link', { name: 'Playground' }).click()
    await expect(page.getByLabel('Question')).toBeVisible()
    await page.goBack()
    await idle(page)
    await expect(calls).toHaveCount(3)
  })
})

test('A stored run shows the server that its next turn stays on, not the default one', async ({ page, request }) => {
  const slow = await startSlowServer(0)
  closing.push(() => slow.close())
  await saveServer(request, 'recorded', slow.baseUrl)
  const answer = await request.post('/api/rollouts', { headers: CHANGING, data: { prompt: 'Hi', server: 'recorded' } })
  const [started] = (await answer.text()).split('\n')
  const { trajectory } = JSON.parse(started ?? '')
  await open(page, `/?t=${trajectory.id}`)
  await expect(page.getByLabel('Server', { exact: true })).toHaveValue('recorded')
  await page.getByRole('button', { name: 'New run' }).click()
  await expect(page.getByLabel('Server', { exact: true })).toHaveValue('built-in')
})
