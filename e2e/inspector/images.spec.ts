/** Images of conversations: boxes in the token view, pictures in the messages and in a saved page, and nothing that is fetched. */
import { readFile } from 'node:fs/promises'
import { expect, type Page, test } from '@playwright/test'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { idle, open, postImport } from '../support/application.ts'
import { expectFitEverywhere } from '../support/fit.ts'

const VOCAB = {
  0: '<|im_start|>',
  1: 'user\n',
  2: '<|vision_start|>',
  3: '<|image_pad|>',
  4: '<|vision_end|>',
  5: 'What is this?',
  6: '<|im_end|>',
  7: 'Dots.',
}
const IMAGE = [2, ...Array.from({ length: 88 }, () => 3), 4]

/** Stores a trajectory with these parts as images and opens it. */
async function show(page: Page, id: string, images: readonly object[]): Promise<void> {
  const trajectory = {
    format: 'rollscope.trajectory/1',
    id,
    createdAt: '2026-11-20T10:00:00Z',
    model: { tokenizer: { name: 'q', specialIds: [0, 2, 3, 4, 6] }, tools: [] },
    vocab: VOCAB,
    segments: [
      {
        kind: 'prompt',
        ids: [0, 1, ...images.flatMap(() => IMAGE), 5, 6],
        messages: [{ role: 'user', content: [...images, { type: 'text', text: 'What is this?' }] }],
      },
      { kind: 'response', ids: [7, 6], thinks: [], toolCalls: [] },
    ],
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded' },
  }
  const [key] = await postImport(page.request, trajectory)
  await open(page, `/t/${key}`)
  await idle(page)
}

const png = { type: 'image', image: PNG_URL }
const jpeg = { type: 'image', image: JPEG_URL }
const widths = (page: Page) =>
  page.locator('img').evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))

test('The tokens of an image are one box with its picture, and are shown one by one and boxed again by keyboard', async ({
  page,
}) => {
  await show(page, 'images-boxed', [png, jpeg])
  await expect.poll(() => widths(page)).toEqual([6, 6])
  await expect(page.getByText('▸ image 2 · JPEG, 6 × 4 · 88 tokens')).toBeVisible()
  await expectFitEverywhere(page)
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  for (const key of ['Home', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  await expect(page.locator('#token-selected')).toHaveAttribute('data-index', '3')
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('#token-selected')).toHaveAttribute('data-index', '91')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('z')
  await expect(page.getByText('▸ image 1 ·')).toBeHidden()
  await expect(page.locator('#token-selected')).toHaveAttribute('data-index', '3')
  await page.keyboard.press('z')
  await expect.poll(() => widths(page)).toEqual([6, 6])
})

test('A click on a picture selects its first token, and a double click all its tokens', async ({ page }) => {
  await show(page, 'images-clicked', [png])
  const picture = page.locator('.token-image')
  await expect.poll(() => widths(page)).toEqual([6])
  const box = await picture.boundingBox()
  const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 60]
  await page.mouse.click(x, y)
  await expect(page.locator('#token-selected')).toHaveAttribute('data-index', '3')
  await page.mouse.dblclick(x, y)
  await expect(page.getByText('88 tokens').last()).toBeVisible()
})

test('Addresses and SVG in the place of images are text, and nothing is requested from them', async ({ page }) => {
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64')
  const address = 'http://127.0.0.1:9/canary.png'
  await show(page, 'images-hostile', [
    { type: 'image', reference: address },
    { type: 'image', image: address },
    { type: 'image', image: `data:image/svg+xml;base64,${svg}` },
  ])
  await expect(page.getByText('Its bytes are no PNG, JPEG, WebP or GIF image')).toBeVisible()
  await page.getByRole('tab', { name: 'Messages' }).click()
  await expect(
    page.getByRole('list', { name: 'Messages' }).getByText(`only its address or path: ${address}`),
  ).toBeVisible()
  expect(await page.locator('img').count()).toBe(0)
  expect(requests.filter((url) => url.includes('canary') || url.startsWith('data:image/svg'))).toEqual([])
})

test('A saved page contains the images of its messages', async ({ page, context }) => {
  await show(page, 'images-saved', [png])
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export as an offline page' }).click()
  const html = await readFile(await (await saved).path(), 'utf8')
  const offline = await context.newPage()
  await offline.route('http://offline.test/', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await offline.goto('http://offline.test/')
  await expect.poll(() => widths(offline)).toEqual([6])
})
