/** The card of a token, the sums of a range, and the outline. */
import { readFileSync } from 'node:fs'
import { type APIRequestContext, expect, type Locator, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { PromptSegment, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { AUTHORIZED, idle, open, postImport } from '../support/application.ts'
import { expectFit, WINDOWS, watch } from '../support/fit.ts'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const PROMPT_TOKEN = 4
const example: Trajectory = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))

/** Stores a trajectory and returns its key, encoded for an address. */
async function importTrajectory(request: APIRequestContext, trajectory: Trajectory): Promise<string> {
  return encodeURIComponent((await postImport(request, encode(trajectory)))[0])
}

test('the token card requests missing logprobs, follows the pointer until a token is pinned, fits, and copies its values; so does the card of a range', async ({
  page,
  request,
}) => {
  // A run that did not request prompt logprobs leaves such a trajectory.
  const withoutPromptLogprobs = example.segments.map((segment) => {
    const { logprobs: _, topLogprobs: __, ...rest } = segment
    return segment.kind === 'prompt' ? (rest as PromptSegment) : segment
  })
  const trajectory: Trajectory = { ...example, id: 'without-prompt-logprobs', segments: withoutPromptLogprobs }
  const key = await importTrajectory(request, trajectory)
  const allIds = ids(trajectory)

  const grid = page.getByRole('grid', { name: 'Tokens' })
  const card = page.getByRole('region', { name: 'Token', exact: true })
  const fact = (of: Locator, name: string) =>
    of.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]')
  const copy = async (from: Locator, what: string): Promise<string> => {
    await from.getByRole('button', { name: `Copy ${what}` }).click()
    return page.evaluate(() => navigator.clipboard.readText())
  }

  await test.step('prompt logprobs are requested when a prompt token is selected, again after a failure, and stored', async () => {
    let requests = 0
    const path = '**/api/trajectories/*/prompt-logprobs'
    await page.route(path, (route) => {
      requests++
      return route.fulfill({
        status: 502,
        contentType: 'application/json',
        body: JSON.stringify({ code: 'CONNECT_REFUSED', detail: 'nobody listens there', hint: 'Start the server.' }),
      })
    })
    await open(page, `/t/${key}?at=${PROMPT_TOKEN}`)
    const notice = page.getByRole('alert').filter({ hasText: 'The prompt logprobs could not be requested' })
    await expect(notice).toContainText('nobody listens there')
    await expect(fact(card, 'logprob')).toHaveText('unknown')
    expect(requests).toBe(1)
    await page.unroute(path)
    await notice.getByRole('button', { name: 'Try again' }).click()
    await expect(fact(card, 'logprob')).toContainText('prefill, T 1')
    await expect(notice).toHaveCount(0)
    const stored = await request.get(`/api/trajectories/${key}`, { headers: AUTHORIZED })
    const [prompt] = (await stored.json()).segments
    expect(prompt.logprobs).toHaveLength(prompt.ids.length)
    expect(prompt).toMatchObject({ scored: { server: 'built-in' } })
  })
  const problems = watch(page)

  await test.step('without a pinned token the card shows the one under the pointer', async () => {
    await idle(page)
    await grid.focus()
    await page.keyboard.press('Escape')
    const row = page.locator('.token-row .token-text').nth(2)
    await row.hover({ position: { x: 12, y: 10 } })
    await expect(card).toHaveAttribute('data-state', 'pointed')
    await row.click({ position: { x: 12, y: 10 } })
    await expect(card).toHaveAttribute('data-state', 'pinned')
  })

  await test.step('a range copies text and ids of all its tokens', async () => {
    const start = Number(await card.getAttribute('data-token'))
    await page.keyboard.press('Shift+End')
    const range = page.getByRole('region', { name: 'Range', exact: true })
    await expect(fact(range, 'tokens')).toHaveText(String(allIds.length - start))
    expect(await copy(range, 'text')).toBe(textOf(allIds.slice(start), trajectory.vocab))
    expect(JSON.parse(await copy(range, 'ids'))).toEqual(allIds.slice(start))
  })

  await test.step('the outline leads to a call, whose card copies id, text, record and link', async () => {
    const [, response] = trajectory.segments as [unknown, ResponseSegment]
    const index = (segmentStarts(trajectory)[1] as number) + (response.toolCalls[0]?.span.start ?? 0)
    const outline = page.getByRole('tree', { name: 'Segments' })
    await outline.getByRole('treeitem').first().focus()
    // The keys move past the first segment and the think block of the second one.
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await expect(card).toHaveAttribute('data-token', String(index))
    await expect(fact(card, 'span')).toHaveText(/^call 1/)
    const id = allIds[index] as number
    expect(await copy(card, 'id')).toBe(String(id))
    expect(await copy(card, 'text')).toBe(trajectory.vocab[id])
    expect(JSON.parse(await copy(card, 'JSON'))).toMatchObject({ index, id, trained: true })
    expect(await copy(card, 'link')).toBe(page.url())
  })

  await expect(page.getByRole('link', { name: 'Open in the template lab' })).toHaveAttribute(
    'href',
    `/templates?t=${key}`,
  )

  await test.step('the panes of a narrow window fit', async () => {
    await page.setViewportSize(WINDOWS[1])
    await page.emulateMedia({ colorScheme: 'dark' })
    for (const [pane, shown] of [
      ['Details', card],
      ['Outline', page.getByRole('tree', { name: 'Segments' })],
    ] as const) {
      await page.getByRole('navigation', { name: 'Panes' }).getByText(pane).click()
      await expect(shown).toBeVisible()
      await expectFit(page)
    }
  })
  expect(problems).toEqual([])
})

test('the outline of a long trajectory follows the scroll with few nodes', async ({ page, request }) => {
  const segments = Array.from({ length: 20 }, (_, repeat) =>
    example.segments.map((segment) =>
      segment.kind === 'prompt'
        ? segment
        : { ...segment, toolCalls: segment.toolCalls.map((call) => ({ ...call, id: `${call.id}-${repeat}` })) },
    ),
  ).flat()
  const key = await importTrajectory(request, { ...example, id: 'long-outline', segments })
  await open(page, `/t/${key}`)
  await idle(page)
  const outline = page.getByRole('tree', { name: 'Segments' })
  const current = outline.locator('[aria-current="true"]')
  const expectFewNodes = async () => expect(await outline.getByRole('treeitem').count()).toBeLessThan(segments.length)
  await expect(current).toHaveCount(1)
  await expectFewNodes()
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('End')
  await expect(current).toHaveAttribute('data-key', new RegExp(`^${segments.length - 1}(\\.\\d+)?$`))
  await expect(current).toBeInViewport()
  await expectFewNodes()
})
