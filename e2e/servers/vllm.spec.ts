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
