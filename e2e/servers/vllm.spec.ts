/** vLLM and other servers in OpenAI’s form: the address is pasted, the run is token-in/token-out, and what is missing is disabled. */
import { type APIRequestContext, expect, type Locator, type Page, test } from '@playwright/test'
import { ask, CHANGING, greedy, idle, open, stored } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { startVllmServer, type VllmDifferences, type VllmServer } from '../support/vllm-server.ts'

const servers: VllmServer[] = []
test.afterEach(async ({ request }) => {
  for (const server of servers.splice(0)) await server.close()
  await request.delete('/api/servers/vllm', { headers: CHANGING, data: {} })
})

async function start(differences?: VllmDifferences): Promise<VllmServer> {
  const server = await startVllmServer(differences)
  servers.push(server)
  return server
}

const save = (request: APIRequestContext, { baseUrl }: VllmServer) =>
  request.post('/api/servers', { headers: CHANGING, data: { name: 'vllm', baseUrl } })

const shown = (page: Page) => page.getByRole('article', { name: 'vllm', exact: true })
const fact = (page: Page, name: string): Locator =>
  page.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]')
const allIds = async (page: Page, request: APIRequestContext) =>
  (await stored(page, request)).segments.flatMap(({ ids }) => ids)

async function useInPlayground(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Use in the playground' }).press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Playground' }).press('Enter')
  await expect(page.getByRole('combobox', { name: 'Server', exact: true })).toHaveValue('vllm')
}

/** Returns the addresses of later requests that contain a text. */
function watchRequests(page: Page, part: string): readonly string[] {
  const urls: string[] = []
  page.on('request', (request) => request.url().includes(part) && urls.push(request.url()))
  return urls
}

async function addByKeyboard(page: Page, baseUrl: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a server' }).press('Enter')
  for (const text of ['vllm', baseUrl]) {
    await page.keyboard.insertText(text)
    await page.keyboard.press('Tab')
  }
  await page.getByRole('button', { name: 'Save', exact: true }).press('Enter')
}

test('The address of a vLLM server is pasted by keyboard, and a run with tools on it has the tokens of the built-in server', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  const vllm = await start()
  await open(page, '/servers')
  await addByKeyboard(page, vllm.baseUrl)
  await expect(shown(page)).toHaveAttribute('data-state', 'ready')
  await expect(fact(page, 'kind')).toHaveText('vLLM server')
  await expect(fact(page, 'vLLM version')).toHaveText('0.32.0')
  await expect(fact(page, 'context length')).toHaveText('4,096 tokens')
  await expect(fact(page, 'streaming')).toHaveText('incremental')
  await expect(fact(page, 'requests running')).toHaveText('0')
  await expectFitEverywhere(page)
  await page.setViewportSize({ width: 1440, height: 900 })

  await useInPlayground(page)
  await greedy(page)
  await ask(page, 'What is 25 * 17, and then plus 9?')
  await idle(page)
  const trajectory = await stored(page, request)
  expect(trajectory.columnMeanings).toMatchObject({ logprobs: { values: 'raw', engine: 'vllm' } })
  const responses = trajectory.segments.filter(({ kind }) => kind === 'response')
  expect(responses.flatMap(({ toolCalls }) => toolCalls?.map(({ result }) => result?.text))).toEqual(['425', '434'])
  await expect(page.locator('[data-tokens]')).toHaveAttribute(
    'data-tokens',
    String((await allIds(page, request)).length),
  )
  expect(vllm.completions.length).toBe(responses.length)
  // Each request has the exact ids of everything before it.
  const ids = await allIds(page, request)
  for (const { prompt, stream } of vllm.completions) {
    expect(prompt).toEqual(ids.slice(0, prompt.length))
    expect(stream).toBe(true)
  }

  await test.step('the run is verified on the same server by prompt logprobs', async () => {
    await page.getByRole('link', { name: 'Open in inspector' }).press('Enter')
    const verify = page.getByRole('region', { name: 'Verify on server' })
    await verify.getByRole('button', { name: 'Rescore' }).press('Enter')
    await expect(verify).toHaveAttribute('data-verify', 'scored')
    expect(vllm.completions.at(-1)).toMatchObject({ prompt_logprobs: 1, max_tokens: 1, stream: false })
  })
  expect(wrongs).toEqual([])
})

test('A server that returns no token ids is refused with the reason and what to do', async ({ page }) => {
  const texts = await start({ returnsIds: false, isVllm: false })
  await open(page, '/servers')
  await addByKeyboard(page, texts.baseUrl)
  await expect(shown(page)).toHaveAttribute('data-state', 'failed')
  await expect(shown(page)).toContainText('/v1/completions returns no token ids with their logprobs')
  await expect(shown(page)).toContainText('Choose a server with SGLang, llama.cpp or vLLM 0.10.2 or newer')
  await expectFitEverywhere(page)
})

test('What another server in OpenAI’s form lacks is disabled with the reason: settings, verification and the chat baseline', async ({
  page,
  request,
}) => {
  const other = await start({ returnsIds: true, isVllm: false })
  expect((await save(request, other)).status()).toBe(201)
  const run = await request.post('/api/rollouts', {
    headers: CHANGING,
    data: { server: 'vllm', tokenizer: 'built-in', prompt: 'Hello!', sampling: { temperature: 0, max_new_tokens: 64 } },
  })
  expect(run.status()).toBe(200)
  const key = run.headers()['x-trajectory-id'] ?? ''

  await test.step('the playground disables settings', async () => {
    await open(page, '/servers')
    await page.getByRole('region', { name: 'All servers' }).getByRole('button', { name: 'vllm' }).press('Enter')
    await expect(fact(page, 'kind')).toHaveText('OpenAI-compatible server')
    await useInPlayground(page)
    await page.getByText('More settings').click()
    for (const name of ['Prompt logprobs', 'Live view'])
      await expect(page.getByRole('checkbox', { name })).toHaveAccessibleDescription(/^This OpenAI-compatible server /)
    await expect(page.getByRole('checkbox', { name: 'Live view' })).toBeDisabled()
    await expect(page.getByRole('option', { name: /chat baseline/ })).toBeDisabled()
    await expect(page.getByText('No chat baseline: This OpenAI-compatible server returns no token ids')).toBeVisible()
  })

  await test.step('a sampling parameter that it does not take is disabled, and blocks a run that sets it', async () => {
    await page.getByRole('button', { name: 'All sampling parameters…' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: /sampling/i })
    await expect(dialog.getByRole('textbox', { name: 'top_k' })).toBeDisabled()
    await expect(dialog).toContainText('This OpenAI-compatible server has no parameter for top_k.')
    await expectFitEverywhere(page)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('built-in')
    await page.getByRole('button', { name: 'All sampling parameters…' }).press('Enter')
    await dialog.getByRole('textbox', { name: 'top_k' }).fill('3')
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Question' }).fill('Hello!')
    await expect(page.getByRole('button', { name: /^Send/ })).toBeEnabled()
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('vllm')
    await expect(page.getByRole('button', { name: /^Send/ })).toBeDisabled()
    await expect(page.getByRole('alert').filter({ hasText: 'has no parameter for top_k. Remove it' })).toBeVisible()
    await expectFitEverywhere(page)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  await test.step('structured output needs a parameter that it lacks', async () => {
    await page.evaluate(() => localStorage.removeItem('rollscope.setup'))
    await open(page, `/?t=${key}`)
    await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('vllm')
    await expect(page.getByRole('button', { name: 'Request structured output…' })).toBeDisabled()
    await expect(page.getByText(/has no parameter for json_schema\. Choose/)).toBeVisible()
  })

  await test.step('the run has its tokens, and verification is disabled', async () => {
    await open(page, `/t/${key}`)
    await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
    const verify = page.getByRole('region', { name: 'Verify on server' })
    await expect(verify.getByRole('button', { name: 'Rescore' })).toBeDisabled()
    await expect(verify).toContainText('This OpenAI-compatible server returns no logprobs of prompts')
    await verify.getByRole('combobox', { name: 'Server' }).selectOption('built-in')
    await expect(verify.getByRole('button', { name: 'Rescore' })).toBeEnabled()
  })

  await test.step('a selected prompt token names the reason for its unknown logprob, and nothing is requested', async () => {
    const scored = watchRequests(page, '/prompt-logprobs')
    await open(page, `/t/${key}?at=1`)
    await expect(page.getByRole('status').filter({ hasText: 'The prompt logprobs cannot be requested' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
    expect(scored).toEqual([])
    await expectFitEverywhere(page)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  await test.step('the chat baseline is disabled', async () => {
    await open(page, `/compare?left=${key}`)
    await page.getByRole('combobox', { name: 'Right side shown as' }).selectOption('Live chat baseline…')
    const dialog = page.getByRole('dialog', { name: 'The chat baseline' })
    await expect(dialog.getByRole('button', { name: 'Run the chat baseline' })).toBeDisabled()
    await expect(dialog).toContainText('This OpenAI-compatible server returns no token ids from its chat endpoint')
    await expectFitEverywhere(page)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  await test.step('the parser lab does not ask for its parsers', async () => {
    await open(page, '/templates?tab=parsers')
    await page.getByRole('textbox', { name: /^Completion/ }).fill('It is 3.')
    const lab = page.getByRole('region', { name: 'The server’s own parsers' })
    await lab.getByRole('combobox', { name: 'Server' }).selectOption('vllm')
    await expect(lab.getByRole('button', { name: 'Parse on the server' })).toBeDisabled()
    await expect(lab).toContainText('This OpenAI-compatible server parses no given texts.')
    await expectFitEverywhere(page)
  })

  await test.step('over HTTP too, with the field', async () => {
    for (const [data, field] of [
      [{ endpoint: 'chat' }, 'endpoint'],
      [{ promptLogprobs: true }, 'promptLogprobs'],
      [{ sampling: { top_k: 3 } }, 'sampling.top_k'],
    ] as const) {
      const answer = await request.post('/api/rollouts', {
        headers: CHANGING,
        data: { server: 'vllm', tokenizer: 'built-in', prompt: 'a', ...data },
      })
      expect(await answer.json()).toMatchObject({ code: 'NOT_IN_ENGINE', field })
    }
    const score = await request.post('/api/score', { headers: CHANGING, data: { server: 'vllm', ids: [1, 2, 3] } })
    expect(await score.json()).toMatchObject({ code: 'NOT_IN_ENGINE', field: 'server' })
  })
})
