/** The first journey: a question, an agent, its tokens, and what can be done with them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@playwright/test'
import { ask, CHANGING, greedy, idle, open, shownKey, stored } from './application.ts'
import { startSlowServer } from './slow-server.ts'

test('the first click works: the agent calculates, and every token is there', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 25 * 17, and then plus 9?')
  const trajectory = await stored(page, request)
  expect(trajectory.segments.map(({ kind }) => kind)).toEqual([
    'prompt',
    'response',
    'prompt',
    'response',
    'prompt',
    'response',
  ])
  const responses = trajectory.segments.filter(({ kind }) => kind === 'response')
  expect(responses.flatMap(({ toolCalls }) => toolCalls?.map(({ result }) => result?.text))).toEqual(['425', '434'])
  for (const segment of responses) expect(segment.logprobs).toHaveLength(segment.ids.length)

  const count = trajectory.segments.reduce((sum, { ids }) => sum + ids.length, 0)
  await expect(page.locator('[data-tokens]')).toHaveAttribute('data-tokens', String(count))
  await expect(page.getByRole('complementary', { name: 'Run' })).toContainText('2 ✓ 0 ✗')
  await expect(page.getByRole('complementary', { name: 'Run' })).toContainText('prefix exact ✓')
  await expect(page.locator('[data-call]')).toHaveCount(2)
  await expect(page.locator('[data-call="call_0000"]')).toContainText('expression: "25 * 17"')
  await expect(page.locator('[data-call="call_0000"]')).toContainText('425')
})

test('the view follows to the end, even where the rest arrives at once', async ({ page }) => {
  await page.setViewportSize({ width: 1200, height: 500 })
  await open(page)
  await greedy(page)
  await page.getByRole('button', { name: /Send/ }).click()
  await page.locator('.token-row:not([hidden])').first().waitFor()
  await page.evaluate(() => {
    for (const end = performance.now() + 2500; performance.now() < end; );
  })
  await idle(page)
  await expect(page.locator('.token-row').filter({ hasText: '434.' }).last()).toBeInViewport()
})

test('rows cover every token once, and say which are trained', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')
  const { segments } = await stored(page, request)
  const seen = new Map<number, string | null>()
  const grid = page.getByRole('grid', { name: 'Tokens' })
  await grid.evaluate((element) => element.scrollTo(0, 0))
  for (let step = 0; step < 40; step++) {
    for (const row of await page.locator('.token-row:not([hidden])').all()) {
      const [first, tokens, ink] = await Promise.all([
        row.getAttribute('data-first'),
        row.getAttribute('data-count'),
        row.getAttribute('data-ink'),
      ])
      for (let i = 0; i < Number(tokens); i++) seen.set(Number(first) + i, ink)
    }
    const atEnd = await grid.evaluate((element) => {
      element.scrollBy(0, 300)
      return element.scrollTop + element.clientHeight >= element.scrollHeight - 1
    })
    if (atEnd && step > 1) break
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  const expected = segments.flatMap(({ kind, ids }) => ids.map(() => (kind === 'response' ? 'trained' : 'context')))
  expect([...seen].sort(([a], [b]) => a - b).map(([, ink]) => ink)).toEqual(expected)
})

test('a token can be pointed at, pinned, stepped from by keyboard, and let go', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')
  const { segments } = await stored(page, request)
  const ids = segments.flatMap((segment) => segment.ids)
  const grid = page.getByRole('grid', { name: 'Tokens' })
  const card = page.getByRole('region', { name: 'Token', exact: true })
  const selected = page.locator('#token-selected')

  await grid.focus()
  await page.keyboard.press('Home')
  await expect(card).toHaveAttribute('data-token', '0')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('j')
  await expect(selected).toHaveAttribute('data-index', '2')
  await expect(selected).toHaveAttribute('data-id', String(ids[2]))
  await expect(selected).toHaveAttribute('data-trained', 'false')
  await page.keyboard.press('J')
  await expect(selected).toHaveAttribute('data-trained', 'true')
  await expect(card).toContainText('1 · trained')
  await expect(card.getByRole('row')).toHaveCount(5)
  await page.keyboard.press('End')
  await expect(selected).toHaveAttribute('data-index', String(ids.length - 1))
  await expect(selected).toBeInViewport()
  await page.waitForURL((url) => url.searchParams.get('at') === String(ids.length - 1))

  // A copied link shows the same token in the same colours.
  await page.getByRole('button', { name: 'Mask' }).click()
  await page.waitForURL((url) => url.searchParams.get('colour') === 'mask')
  await page.goto(page.url())
  await expect(card).toHaveAttribute('data-token', String(ids.length - 1))
  await expect(page.getByRole('button', { name: 'Mask' })).toHaveAttribute('aria-pressed', 'true')

  await grid.focus()
  await page.keyboard.press('Escape')
  await expect(card).toHaveCount(0)
  await page
    .locator('.token-row')
    .filter({ hasText: 'tool_call' })
    .first()
    .hover({ position: { x: 30, y: 10 } })
  await expect(card).toBeVisible()
  await page.mouse.move(700, 5)
  await expect(card).toHaveCount(0)
})

test('the built-in server answers at the root too, for clients that keep only an origin', async ({ request }) => {
  for (const path of ['/model_info', '/get_model_info', '/server_info', '/health', '/v1/models'])
    expect(await (await request.get(path)).text()).toBe(await (await request.get(`/sglang${path}`)).text())
  const body = { text: 'Hello', sampling_params: { temperature: 0, max_new_tokens: 4 } }
  const [atRoot, mounted] = await Promise.all(
    ['/generate', '/sglang/generate'].map(async (path) => (await request.post(path, { data: body })).json()),
  )
  expect(atRoot.output_ids).toHaveLength(4)
  expect(atRoot.output_ids).toEqual(mounted.output_ids)
  const parsed = await request.post('/separate_reasoning', { data: { text: 'a</think>b', reasoning_parser: 'step3' } })
  expect(await parsed.json()).toEqual({ reasoning_text: 'a', text: 'b' })
})

test('a further turn goes on with the same tokens', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')
  const before = (await stored(page, request)).segments.flatMap(({ ids }) => ids)
  await ask(page, 'Now add 9.')
  const after = await stored(page, request)
  expect(after.segments.flatMap(({ ids }) => ids).slice(0, before.length)).toEqual(before)
  await expect(page.locator('[data-call]')).toHaveCount(2)
  await expect(page.locator('[data-call="call_0001"]')).toContainText('93')
})

test('thinking off puts the empty block into the prompt', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await page.getByLabel('Thinking').uncheck()
  await ask(page, 'What is 12 * 7?')
  const { segments, vocab } = (await stored(page, request)) as unknown as {
    segments: { ids: number[] }[]
    vocab: Record<string, string>
  }
  const text = (segments[0]?.ids ?? []).map((id) => vocab[id]).join('')
  expect(text.endsWith('<think>\n\n</think>\n\n')).toBe(true)
  await expect(page.getByText(/^think ·/)).toHaveCount(0)
})

test('calls are read as the server says, or as another parser reads them', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await page.getByText('More settings').click()
  const parser = page.getByLabel('Tool-call parser')
  await expect(parser.getByRole('option')).toHaveText([
    'as the server says: hermes',
    'hermes',
    'qwen_xml',
    'glm',
    'kimi_k2',
    'llama3',
    'mistral',
    'deepseek_v3',
    'deepseek_v31',
    'deepseek_v32',
    'gpt-oss',
    'pythonic',
    'gemma4',
    'minimax-m2',
    'deepseek_v4',
    'kimi_k3',
    'lfm2',
    'cohere_command4',
    'apertus2509',
    'muse',
    'gigachat3',
    'hunyuan',
    'minimax-m3',
    'minicpm5',
  ])
  await expect(parser).toHaveValue('')
  await parser.selectOption('qwen_xml')
  await ask(page, 'What is 12 * 7?')
  const trajectory = await stored(page, request)
  expect(trajectory).toMatchObject({ model: { parser: 'qwen_xml' } })
  expect(trajectory.segments[1]?.toolCalls).toMatchObject([
    { kind: 'malformed', result: { text: expect.stringContaining('where <function= should stand') } },
  ])
  await expect(page.locator('[data-call="call_0000"]')).toContainText('Malformed')
  await expect(parser).toHaveValue('qwen_xml')
})

test.describe('with a slow server', () => {
  let slow: Awaited<ReturnType<typeof startSlowServer>>
  test.beforeEach(async ({ request }) => {
    slow = await startSlowServer(60)
    await request.delete('/api/servers/slow', { headers: CHANGING, data: {} })
    const saved = await request.post('/api/servers', {
      headers: CHANGING,
      data: { name: 'slow', baseUrl: slow.baseUrl },
    })
    expect(saved.status()).toBe(201)
  })
  test.afterEach(() => slow.close())

  const start = async (page: import('@playwright/test').Page) => {
    await open(page)
    await page.getByLabel('SGLang server').selectOption('slow')
    await greedy(page)
    await page.getByLabel('Question').fill('What is 25 * 17, and then plus 9?')
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(page.locator('.token-row[data-ink="trained"]').first()).toBeVisible()
  }

  test('tokens are drawn as they arrive, and Stop keeps them and ends the generation', async ({ page, request }) => {
    await start(page)
    const count = async () => Number(await page.locator('[data-tokens]').getAttribute('data-tokens'))
    const first = await count()
    await expect.poll(count).toBeGreaterThan(first + 3)
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(page.getByText('Stopped.')).toBeVisible()
    await idle(page)
    const { segments } = await stored(page, request)
    expect(segments.at(-1)).toMatchObject({ kind: 'response', finish: { kind: 'cancelled' } })
    expect(segments.at(-1)?.ids.length).toBeGreaterThan(3)
    await expect.poll(() => slow.generations.cut).toBe(1)
    // The open turn is closed, and the next one goes on from there.
    await page.getByLabel('SGLang server').selectOption('built-in')
    await ask(page, 'What is 2 + 2?')
    expect((await stored(page, request)).segments.slice(0, segments.length)).toEqual(segments)
  })

  test('a reload in mid-run catches up', async ({ page, request }) => {
    await start(page)
    await page.reload()
    await expect(page.locator('.token-row[data-ink="trained"]').first()).toBeVisible()
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible()
    await idle(page)
    await expect(page.locator('[data-call]')).toHaveCount(2)
    const { segments } = await stored(page, request)
    await expect(page.locator('[data-tokens]')).toHaveAttribute(
      'data-tokens',
      String(segments.reduce((sum, { ids }) => sum + ids.length, 0)),
    )
  })

  test('a trajectory under way is continued by one at a time', async ({ page, request }) => {
    await start(page)
    const key = await shownKey(page)
    const second = await request.post(`/api/trajectories/${key}/continue`, {
      headers: CHANGING,
      data: { prompt: 'x', detached: true },
    })
    expect([second.status(), (await second.json()).code]).toEqual([409, 'RUNNING'])
    await page.getByRole('button', { name: 'Stop' }).click()
    await idle(page)
  })
})

test('a server that is away is named, and the question is not lost', async ({ page, request }) => {
  await request.delete('/api/servers/away', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'away', baseUrl: 'http://127.0.0.1:9' } })
  await open(page)
  await page.getByLabel('SGLang server').selectOption('away')
  await expect(page.getByRole('status').filter({ hasText: 'nothing listens' })).toContainText(
    'start the server, or correct its address',
  )
  await page.getByLabel('Question').fill('Are you there?')
  await page.getByRole('button', { name: /Send/ }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'nothing listens' })).toBeVisible()
  await expect(page.getByLabel('Question')).toHaveValue('Are you there?')
})

test('a setting out of range is told at its field, and nothing is sent', async ({ page }) => {
  await open(page)
  await page.getByLabel('temperature').fill('-1')
  await expect(page.getByText('must be a number from 0 to 100')).toBeVisible()
  await page.getByRole('button', { name: /Send/ }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'temperature must be a number from 0 to 100' })
  await expect(alert).toBeVisible()
  await expect(page.getByText('Nothing has run yet.')).toBeVisible()
  await page.getByLabel('temperature').fill('1')
  await expect(alert).toHaveCount(0)
})

test('a server that takes the connection and says nothing can be given up, and the question stays', async ({
  page,
  request,
}) => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  await request.delete('/api/servers/silent', { headers: CHANGING, data: {} })
  await request.post('/api/servers', { headers: CHANGING, data: { name: 'silent', baseUrl } })
  await open(page)
  await page.getByLabel('SGLang server').selectOption('silent')
  await page.getByLabel('Question').fill('Are you there?')
  await page.getByRole('button', { name: /Send/ }).click()
  await page.getByRole('button', { name: /Starting/ }).click()
  await expect(page.getByLabel('Question')).toHaveValue('Are you there?')
  await expect(page.getByRole('button', { name: /Send/ })).toBeEnabled()
  silent.closeAllConnections()
  silent.close()
})

test('the page shows, goes on with and exports what its address says, back and forward', async ({ page, request }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 3 + 4?')
  const first = await shownKey(page)
  await page.getByRole('button', { name: /New run/ }).click()
  await page.waitForURL((url) => !url.searchParams.has('t'))
  await expect(page.getByText('Run an agent, see every token')).toBeVisible()
  await ask(page, 'What is 9 * 9 * 9?')
  const second = await shownKey(page)
  const shows = async (key: string, result: string) => {
    await page.waitForURL((url) => url.searchParams.get('t') === key)
    await idle(page)
    await expect(page.locator('[data-call]')).toHaveCount(1)
    await expect(page.locator('[data-call]')).toContainText(result)
  }
  await shows(second, '729')
  await page.goBack()
  await expect(page.getByText('Run an agent, see every token')).toBeVisible()
  await page.goBack()
  await shows(first, '7')
  await ask(page, 'Now add 9.')
  const { segments } = await stored(page, request)
  expect(segments.flatMap(({ toolCalls = [] }) => toolCalls.map(({ result }) => result?.text))).toEqual(['7', '16'])
  await page.getByRole('link', { name: 'Playground' }).click()
  await expect(page.getByLabel('Question')).toBeVisible()
  await page.goBack()
  await idle(page)
  await expect(page.locator('[data-call]')).toHaveCount(2)
})

test('a trajectory that another tab has continued is shown anew before it goes on', async ({ page, context }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 3 + 4?')
  const other = await context.newPage()
  await other.goto(page.url())
  await idle(other)
  await ask(other, 'Now add 9.')
  await page.getByLabel('Next turn').fill('Now add 1.')
  await page.getByRole('button', { name: /Send/ }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'continued elsewhere' })).toBeVisible()
  await expect(page.getByLabel('Next turn')).toHaveValue('Now add 1.')
  await expect(page.locator('[data-call]')).toHaveCount(2)
  await page.getByRole('button', { name: /Send/ }).click()
  await expect(page.locator('[data-call]')).toHaveCount(3)
  await idle(page)
  await expect(page.locator('[data-call]').last()).toContainText('17')
})

test('the setup shows what an open trajectory was begun with', async ({ page }) => {
  await open(page)
  await greedy(page)
  await page.getByLabel('System prompt').fill('Answer like a pirate.')
  await page.getByLabel('Thinking').uncheck()
  await ask(page, 'What is 3 + 4?')
  await page.getByRole('button', { name: /New run/ }).click()
  await page.getByLabel('System prompt').fill('Be brief.')
  await page.getByLabel('Thinking').check()
  await page.goBack()
  await idle(page)
  await expect(page.getByLabel('System prompt')).toHaveValue('Answer like a pirate.')
  await expect(page.getByLabel('Thinking')).not.toBeChecked()
  await page.goForward()
  await expect(page.getByLabel('System prompt')).toHaveValue('Be brief.')
})

test('everything works by keyboard alone', async ({ page }) => {
  await open(page)
  await page.getByLabel('Question').focus()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('What is 6 * 7?')
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByRole('button', { name: /New run/ }).waitFor()
  await idle(page)
  const colour = page.getByLabel('Colour tokens by something else')
  await colour.focus()
  await page.keyboard.type('Plain')
  await expect(colour).toHaveValue('none')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('region', { name: 'Token', exact: true })).toBeVisible()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeFocused()
})
