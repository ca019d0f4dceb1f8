/** Several servers: one setup on all of them in the playground, and one trajectory scored by two of them in two lanes. */
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, CHANGING, greedy, open } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts'
import { startVllmServer, type VllmDifferences, type VllmServer } from '../support/vllm-server.ts'

const NAMES = ['side-vllm', 'side-openai', 'side-again'] as const
const running: (VllmServer | ScriptedServer)[] = []
test.afterEach(async ({ request }) => {
  for (const server of running.splice(0)) await server.close()
  for (const name of NAMES) await request.delete(`/api/servers/${name}`, { headers: CHANGING, data: {} })
})

const save = (request: APIRequestContext, name: (typeof NAMES)[number], baseUrl: string) =>
  request.post('/api/servers', { headers: CHANGING, data: { name, baseUrl } })

async function startVllm(request: APIRequestContext, name: (typeof NAMES)[number], differences?: VllmDifferences) {
  const server = await startVllmServer(differences)
  running.push(server)
  expect((await save(request, name, server.baseUrl)).status()).toBe(201)
}

const ended = (page: Page) => page.locator('[data-samples="ended"]').waitFor()

test('One prompt runs on three servers by keyboard: one refuses a parameter by name, and the others are compared', async ({
  page,
  request,
}) => {
  const problems = watch(page)
  await startVllm(request, 'side-vllm')
  await startVllm(request, 'side-openai', { returnsIds: true, isVllm: false })
  await open(page)
  await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('built-in')
  await page.getByText('Run on other servers too').focus()
  await page.keyboard.press('Enter')
  for (const name of ['side-vllm', 'side-openai']) {
    await page.getByRole('checkbox', { name }).focus()
    await page.keyboard.press('Space')
  }
  await expect(page.getByText('Runs on 3 servers at once')).toBeVisible()
  await greedy(page)
  await page.getByRole('button', { name: 'All sampling parameters…' }).press('Enter')
  await page.getByRole('dialog').getByLabel('top_k', { exact: true }).fill('5')
  await page.keyboard.press('Escape')
  await page.getByLabel('Question').fill('What is 12 * 7?')
  await page.getByLabel('Question').press('Control+Enter')
  await ended(page)

  await expect(page.getByRole('alert').filter({ hasText: 'side-openai runs nothing' })).toContainText('top_k')
  const samples = page.locator('[data-sample]')
  await expect(samples).toHaveCount(2)
  await expect(samples.nth(0)).toContainText('built-in')
  await expect(samples.nth(1)).toContainText('side-vllm')
  const group = new URL(page.url()).searchParams.get('group') as string
  const answer = await (await request.get(`/api/groups/${group}/servers`, { headers: AUTHORIZED })).json()
  expect(answer).toMatchObject({
    servers: ['built-in', 'side-vllm'],
    comparisons: [{ divergence: null, chance: null }],
  })
  expect(answer.comparisons[0].logprobs).toMatchObject({ kinds: ['raw'], refused: [] })

  const summary = page.getByText('All ids are equal to those of built-in.')
  await summary.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('list', { name: 'Samples compared with built-in' })).toContainText('side-vllm')
  await expectFitEverywhere(page, undefined, '[data-samples]')
  expect(problems).toEqual([])
})

test('One trajectory is scored by two servers in two lanes, with the noise of each, and a server that cannot score is disabled', async ({
  page,
  request,
}) => {
  const again = await startScriptedServer()
  running.push(again)
  expect((await save(request, 'side-again', again.baseUrl)).status()).toBe(201)
  await startVllm(request, 'side-openai', { returnsIds: true, isVllm: false })
  const run = await request.post('/api/rollouts', {
    headers: CHANGING,
    data: {
      server: 'built-in',
      prompt: 'What is 3 + 4?',
      tools: ['calculator'],
      sampling: { temperature: 0, max_new_tokens: 64 },
    },
  })
  const key = run.headers()['x-trajectory-id'] ?? ''
  await run.text()

  await open(page, `/t/${key}`)
  await page.getByRole('link', { name: 'Score on two servers' }).press('Enter')
  const panel = page.getByRole('region', { name: 'Rescore on a server' })
  await panel.getByRole('combobox', { name: 'Right scored by' }).selectOption('side-again')
  const refused = panel.getByRole('option', { name: 'side-openai (cannot score)' }).first()
  await expect(refused).toBeDisabled()
  await expect(panel.getByRole('list', { name: 'Servers that cannot score' })).toContainText('no logprobs of prompts')
  await page.keyboard.press('w')
  await expect(panel.getByRole('button', { name: 'Score on both servers' })).toBeFocused()
  await page.keyboard.press('Enter')
  const report = panel.getByRole('region', { name: 'Difference between the servers' })
  await report.waitFor()
  await expect(panel).toHaveAttribute('data-rescore', 'rescored')
  // The second server passes every call to the first one, so all that differs is noise.
  expect(Number(await report.getAttribute('data-floor'))).toBeLessThan(1e-3)
  await expect(report).toHaveAttribute('data-jump', 'none')
  await expect(report).toContainText('noise of built-in')
  await expect(report).toContainText('noise of side-again')
  await panel.getByRole('button', { name: 'Colour by difference' }).press('Enter')
  await page.waitForURL((url) => url.searchParams.get('colour') === 'column:delta')
  await expectFitEverywhere(page, undefined, '[data-rescore]')
})
