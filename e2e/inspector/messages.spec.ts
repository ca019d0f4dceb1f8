/** The Messages tab of the inspector, beside the tokens. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import type { ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { open, postImport } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

const NAME = 'two-steps'
const example: Trajectory = JSON.parse(readFileSync(`public/examples/${NAME}.json`, 'utf8'))
const starts = segmentStarts(example)
const reply = example.segments[1] as ResponseSegment
const think = reply.thinks[0] ?? { start: 0, end: 0 }

/** Returns a trajectory with the first tool step of the example 100 times. */
function longConversation(): Trajectory {
  const [prompt, response, result] = example.segments as [Segment, ResponseSegment, Segment]
  const step = (index: number): Segment[] => {
    const id = `call_${index}`
    return [
      { ...response, toolCalls: response.toolCalls.map((call) => ({ ...call, id })) },
      { ...result, messages: [{ role: 'tool', callId: id }] } as Segment,
    ]
  }
  const steps = Array.from({ length: 100 }, (_, index) => step(index))
  return { ...example, id: 'messages-long', segments: [prompt, ...steps.flat()] }
}

const message = (page: Page, number: number) => page.locator(`[data-message="${number}"]`)
const linked = (page: Page) => page.locator('[data-part][data-linked]')
const nodes = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length)

test('Messages select their tokens, tokens mark their message, and a long conversation scrolls with few nodes', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  await test.step('the part of a message with the chosen token is marked', async () => {
    const [call] = reply.toolCalls
    await open(page, `/example/${NAME}?tab=messages&at=${(starts[1] as number) + (call?.span.start ?? 0) + 2}`)
    await expect(page.locator('[data-message]')).toHaveCount(6)
    await expectFitEverywhere(page, () => expect(linked(page)).toHaveAttribute('aria-label', 'call'))
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('a part of a message selects its tokens and shows them', async () => {
    const range = `${(starts[1] as number) + think.start}-${(starts[1] as number) + think.end - 1}`
    const thinking = message(page, 2).getByRole('group', { name: 'thinking' })
    await thinking.getByRole('button', { name: /tokens$/ }).click()
    await expect(linked(page)).toHaveAttribute('aria-label', 'thinking')
    await expect(page.getByRole('region', { name: 'Range', exact: true })).toHaveAttribute('data-range', range)
    await page.getByRole('treeitem', { name: /5 response/ }).click()
    await expect(message(page, 6)).toHaveAttribute('data-linked', 'true')
    await thinking.getByRole('button', { name: 'show' }).click()
    await expect(page.getByRole('grid', { name: 'Tokens' })).toBeVisible()
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(range)
  })

  await test.step('a long conversation scrolls with few nodes', async () => {
    await postImport(request, longConversation())
    await page.goto('/t/messages-long?tab=messages')
    await expect(page.getByText('201 messages')).toBeVisible()
    await expect(message(page, 1)).toBeVisible()
    expect(await nodes(page)).toBeLessThan(3_000)
    await page.getByRole('tree', { name: 'Segments' }).getByRole('treeitem').first().focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const chosen = page.locator('[data-message][data-linked]')
    await expect(chosen).toBeInViewport()
    await expect(chosen).toContainText('tool calculator')
    expect(await nodes(page)).toBeLessThan(3_000)
  })
  expect(wrongs).toEqual([])
})
