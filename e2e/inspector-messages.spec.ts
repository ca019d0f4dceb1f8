/** Messages beside their tokens. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { segmentStarts } from '#lib/core/tokens.ts'
import type { ResponseSegment, Trajectory } from '#lib/core/trajectory.ts'
import { idle, open } from './application.ts'
import { expectFit, WINDOWS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const NAME = 'two-steps'
const example: Trajectory = JSON.parse(readFileSync(`public/examples/${NAME}.json`, 'utf8'))
const starts = segmentStarts(example)
const reply = example.segments[1] as ResponseSegment
const think = reply.thinks[0] ?? { start: 0, end: 0 }

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const message = (page: Page, number: number) => page.locator(`[data-message="${number}"]`)
const linked = (page: Page) => page.locator('[data-part][data-linked]')
const nodes = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)

async function showMessages(page: Page, query = ''): Promise<void> {
  await open(page, `/example/${NAME}?tab=messages${query}`)
  await expect(message(page, 1)).toBeVisible()
}

test('the conversation is shown as parsed; a part leads to its tokens', async ({ page }) => {
  await showMessages(page)
  await expect(page.locator('[data-message]')).toHaveCount(6)
  await expect(message(page, 2)).toContainText('First I compute 25 * 17.')
  await expect(message(page, 3)).toContainText('425')
  const first = (starts[1] as number) + think.start
  const last = (starts[1] as number) + think.end - 1
  const thinking = message(page, 2).getByRole('group', { name: 'thinking' })
  await thinking.getByRole('button', { name: /tokens$/ }).click()
  await expect(linked(page)).toHaveAttribute('aria-label', 'thinking')
  await expect(page.getByRole('region', { name: 'Range', exact: true })).toHaveAttribute(
    'data-range',
    `${first}-${last}`,
  )
  await thinking.getByRole('button', { name: 'show' }).click()
  await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(`${first}-${last}`)
})

test('a chosen token marks its part, and its raw text is one click away', async ({ page }) => {
  const [call] = reply.toolCalls
  await showMessages(page, `&at=${(starts[1] as number) + (call?.span.start ?? 0) + 2}`)
  await expect(linked(page)).toHaveAttribute('aria-label', 'call')
  await message(page, 2).getByRole('button', { name: 'Raw' }).click()
  await expect(message(page, 2).locator('[data-raw]')).toContainText('</think>')
  await expect(message(page, 2).locator('[data-raw]')).toContainText('<|im_end|>')
  await page.getByRole('treeitem', { name: /5 response/ }).click()
  await expect(message(page, 6)).toHaveAttribute('data-linked', 'true')
})

test('what a model wrote is never markup of the page', async ({ page }) => {
  const wrongs = watch(page)
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const { tokenizer: _, ...model } = example.model
  const text =
    '# Hello\n\n<img src="http://evil.example/x.png" onerror="document.title=1">\n\n![p](http://evil.example/y.png) [l](javascript:document.title=2) <script>document.title=3</script>'
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'rollscope-messages-')), 'hostile.json')
  const hostile: Trajectory = {
    ...example,
    id: 'hostile',
    model,
    vocab: { '1': text },
    segments: [{ kind: 'response', ids: [1], thinks: [], toolCalls: [] }],
  }
  writeFileSync(file, encode(hostile))
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
  await idle(page)
  await page.getByRole('tab', { name: 'Messages' }).click()
  await page.getByRole('checkbox', { name: 'Markdown' }).check()
  await expect(message(page, 1).locator('[data-markdown]')).toContainText('Hello')
  await expect(message(page, 1)).toContainText('<script>document.title=3</script>')
  await expect(message(page, 1).locator('img, script, a')).toHaveCount(0)
  expect(requests.filter((url) => url.includes('evil'))).toEqual([])
  expect(wrongs).toEqual([])
})

test('a long conversation is scrolled with few nodes, and a chosen token is found in it', async ({ page }) => {
  test.slow()
  const long = { ...largeTrajectory({ tokens: 20_000, alternatives: 0 }), id: 'messages-20k' }
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'rollscope-messages-')), 'long.json')
  writeFileSync(file, encode(long))
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
  await idle(page)
  await page.getByRole('tab', { name: 'Messages' }).click()
  await expect(message(page, 1)).toBeVisible()
  expect(await nodes(page)).toBeLessThan(5_000)

  const tree = page.getByRole('tree', { name: 'Segments' })
  await tree.getByRole('treeitem').first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const chosen = page.locator('[data-message][data-linked]')
  await expect(chosen).toBeInViewport()
  await expect(chosen).toContainText(`tool read_file`)
  // Its result is cut, says so, and is shown whole.
  const all = chosen.getByRole('button', { name: /^Show all/ })
  await all.click()
  await expect(chosen.getByRole('button', { name: 'Show less' })).toBeVisible()
  expect(await nodes(page)).toBeLessThan(5_000)
})

test('messages fit every window', async ({ page }) => {
  const wrongs = watch(page)
  await showMessages(page, '&at=205')
  for (const size of WINDOWS) {
    await page.setViewportSize(size)
    await expect(linked(page)).toBeVisible()
    await expectFit(page)
  }
  expect(wrongs).toEqual([])
})
