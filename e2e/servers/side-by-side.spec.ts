/** One trajectory scored by two servers in two lanes. */
import { type APIRequestContext, expect, test } from '@playwright/test'
import { CHANGING, open } from '../support/application.ts'
import { expectFitEverywhere } from '../support/fit.ts'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts'
import { startVllmServer, type VllmDifferences, type VllmServer } from '../support/vllm-server.ts'

const NAMES = ['side-openai', 'side-again'] as const
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
    data: { server: 'built-in', prompt: 'What is 3 + 4?', sampling: { temperature: 0, max_new_tokens: 64 } },
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
