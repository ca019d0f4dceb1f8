/** Trainers' files: opened with and without a tokenizer, exported, and pushed from Python. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, type Page, test } from '@playwright/test'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { APPLICATION_URL, AUTHORIZED, idle, open, postImport, TOKEN } from '../support/application.ts'

const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8')) as Trajectory
const ids = example.segments.flatMap((segment) => [...segment.ids])

/** Returns the name and text of the file that the export dialog saves in a format. */
async function exportedAs(page: Page, format: string): Promise<{ readonly name: string; readonly text: string }> {
  await page.getByRole('button', { name: 'Export' }).click()
  const download = page.waitForEvent('download')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Export as ${format}` })
    .click()
  const file = await download
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

async function openText(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Open' }).click()
  await page
    .getByLabel('Trajectory file')
    .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
}

test('A strands-sglang export opens as ids, gets texts from a tokenizer, and is exported as slime; a file of several samples stores all', async ({
  page,
  request,
}) => {
  await open(page, '/example/two-steps')
  const { text } = await exportedAs(page, 'strands-sglang')
  expect(JSON.parse(text)).toMatchObject({
    token_ids: ids,
    loss_mask: [...lossMask(example)],
    segment_info: example.segments.map((segment) => [segment.kind === 'response', segment.ids.length]),
  })

  await openText(page, 'rollout.json', text)
  await page.waitForURL(/\/t\//)
  await idle(page)
  const grid = page.getByRole('grid')
  await expect(grid).toContainText(`⟨${ids[0]}⟩`)
  await page.getByRole('button', { name: 'Choose a tokenizer…' }).click()
  await page.getByLabel('Tokenizer', { exact: true }).fill('nowhere/nothing-of-that-name')
  await page.getByRole('dialog').getByRole('button', { name: 'Apply tokenizer' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible()
  await page.getByLabel('Tokenizer', { exact: true }).fill('built-in')
  await page.getByRole('dialog').getByRole('button', { name: 'Apply tokenizer' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.locator('[data-call]')).toHaveCount(2)
  await expect(grid).toContainText('<|im_start|>')

  const slime = await exportedAs(page, 'slime')
  expect(slime.name).toMatch(/^trajectory-[\w-]+\.slime\.json$/)
  expect(JSON.parse(slime.text)).toMatchObject({ status: 'completed', tokens: ids })
  const key = decodeURIComponent(new URL(page.url()).pathname.slice('/t/'.length))
  const overHttp = await request.get(`/api/trajectories/${key}/export?format=slime`, { headers: AUTHORIZED })
  expect(await overHttp.text()).toBe(slime.text)
  expect(overHttp.headers()['content-disposition']).toBe(`attachment; filename="${slime.name}"`)

  await openText(
    page,
    'step.jsonl',
    Array(3)
      .fill(JSON.stringify(JSON.parse(slime.text)))
      .join('\n'),
  )
  await page.waitForURL((url) => url.pathname !== `/t/${key}`)
  await idle(page)
  const banner = page.getByRole('status').filter({ hasText: 'The first of 3 trajectories' })
  await expect(banner).toContainText('All 3 are stored.')
  await banner.getByRole('button', { name: 'Dismiss' }).click()
  await expect(banner).toHaveCount(0)
})

/** Returns the code blocks of docs/push-from-python.md in order. */
async function snippets(): Promise<readonly string[]> {
  const text = await readFile('docs/push-from-python.md', 'utf8')
  return Array.from(text.matchAll(/^```python\n([\s\S]*?)^```$/gm), ([, code]) => code as string)
}

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('\n!!! There is no python3 here: docs/push-from-python.md is NOT tested.\n')

test('The code of docs/push-from-python.md stores its records', async ({ request }) => {
  test.skip(!hasPython, 'there is no python3')
  await postImport(request, { ...example, id: 'formats-python' })
  const text = await (
    await request.get('/api/trajectories/formats-python/export?format=strands-sglang', { headers: AUTHORIZED })
  ).text()
  const [push, two, history, several, columns, ...others] = await snippets()
  expect(others).toEqual([])
  expect(push?.trim().split('\n').length).toBeLessThanOrEqual(12)
  // Stand-ins have the methods that the snippets call; their records are real.
  const records = `
import json, sys
class Rollout:
    def __init__(self, **other): self.record = {**json.loads(sys.stdin.read()), **other}
    def model_dump(self): return self.record
    def model_dump_json(self): return json.dumps(self.record)
class Sample:
    def to_dict(self): return {"tokens": [1, 2], "response_length": 1, "loss_mask": [1], "rollout_log_probs": [float("nan")], "status": "completed", "reward": 1.0}
class Model:
    rollout_history, rollout = [Rollout(id="earlier")], Rollout(id="later")
rollout, model, sample, samples = Rollout(), Model(), Sample(), [Sample(), Sample()]
`
  const [prompt, response] = example.segments
  const sent = `
key = push(rollout.model_dump_json())[0].rsplit("/", 1)[-1]
prompt_ids, response_ids = ${JSON.stringify([prompt?.ids, response?.ids])}
trainer_logprobs = [-0.5] * len(response_ids)
print(key)
`
  const program = [records, push, two, history, several, sent, columns, 'push("{}")'].join('\n')
  const { stdout, stderr } = spawnSync('python3', ['-'], {
    input: program.replace('sys.stdin.read()', JSON.stringify(text)),
    encoding: 'utf8',
    env: { ...process.env, no_proxy: '127.0.0.1', ROLLSCOPE_URL: APPLICATION_URL, ROLLSCOPE_TOKEN: TOKEN },
  })
  const links = stdout.trim().split('\n')
  const key = links.pop()
  expect(links, stderr).toHaveLength(6)
  for (const link of links) expect(link).toMatch(new RegExp(`^${APPLICATION_URL}/t/[\\w-]+$`))
  // The last snippet posts something that is not a record: the server refuses it, and Python reports that.
  expect(stderr).toContain('HTTP Error 422')
  const pushed = await (await request.get(`/api/trajectories/${key}`, { headers: AUTHORIZED })).json()
  expect(pushed.segments.flatMap((segment: { readonly ids: readonly number[] }) => segment.ids)).toEqual(ids)
  expect(pushed.segments[1].columns.trainerLogprobs).toEqual(response?.ids.map(() => -0.5))
})
