/** The token view: text of every kind, folds, marks, sizes, the scroll position, and many lines. */
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { idle, open, postImport } from '../support/application.ts'
import { expectFitEverywhere, SCREENS, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'
import { everyTextTrajectory } from '../support/text-trajectory.ts'

/** Stores a file and opens its trajectory. */
async function show(page: Page, request: APIRequestContext, file: string): Promise<void> {
  const [key] = await postImport(request, file)
  await open(page, `/t/${key}`)
  await idle(page)
}

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })
const rows = (page: Page) => page.locator('.token-row:not([hidden])')
const rowOf = (page: Page, text: string) => rows(page).filter({ hasText: text }).first()
const selected = (page: Page) => page.locator('#token-selected')

/** Returns the drawn rows in order, with their tokens. */
const drawn = (page: Page) =>
  rows(page).evaluateAll((all) =>
    (all as HTMLElement[])
      .map(({ dataset, children }) => ({
        first: Number(dataset.first),
        count: Number(dataset.count),
        text: children[0]?.textContent ?? '',
        marks: children[1]?.textContent ?? '',
      }))
      .sort((a, b) => a.first - b.first),
  )

test('Token view draws every token once and uncut, folds, marks hits and the selection, and fits each window', {
  tag: CORE,
}, async ({ page, request }) => {
  const wrongs = watch(page)
  const texts = everyTextTrajectory()
  await show(page, request, texts.file)

  await test.step('Every token is drawn once, at its position, and completely', async () => {
    const lines = await drawn(page)
    let next = 0
    for (const { first, count } of lines) {
      expect(first).toBe(next)
      next = first + count
    }
    expect(next).toBe(texts.entries.length)
    const shown = lines.map(({ text }) => text)
    for (const text of [
      '日本語の文章、中文字符 한국어。 ',
      'zero⟨U+200B⟩width⟨U+200C⟩⟨U+FEFF⟩⟨U+00AD⟩ nbsp⟨U+00A0⟩here ',
      'esc⟨U+001B⟩[31mbell⟨U+0007⟩⟨U+0000⟩⟨U+007F⟩⟨U+202E⟩bidi ',
      'split⟨E6⟩⟨97⟩⟨A5⟩日 ⟨F0 9F⟩⟨99 82⟩🙂 ⟨FF⟩⟨C3⟩ ',
      '⟨empty⟩empty ',
    ])
      expect(shown).toContain(text)
    expect(shown.some((text) => text.includes(' 👨‍👩‍👧🇩🇪👍🏽❤️ 👩⟨U+200D⟩🚀'))).toBe(true)
    // Each of several line ends has its own mark, and the line breaks after the token.
    expect(lines.filter(({ marks }) => /↵↵↵$/.test(marks)).map(({ text }) => text.trim())).toEqual(['many'])
    expect(lines.find(({ text }) => text.startsWith('a b'))?.marks).toBe(' ⇥ ⇥⇤ ⇤↵')
    const [, kept = '', more = ''] =
      shown.map((text) => /^(x+)…⟨([\d,]+) more⟩/.exec(text)).find((match) => match !== null) ?? []
    expect(kept.length + Number(more.replace(',', ''))).toBe(20_000)

    // No glyph is wider than its box, and the boxes are in token order: bidirectional text does not reorder them.
    const drawnBoxes = () =>
      page.locator('.token-row:not([hidden]) .token-box').evaluateAll((all) =>
        (all as HTMLElement[]).map((box) => ({
          text: box.textContent,
          beyond: box.scrollWidth - box.clientWidth,
          row: box.getBoundingClientRect().top,
          from: box.getBoundingClientRect().left,
          to: box.getBoundingClientRect().right,
        })),
      )
    // Boxes are measured again after a font has loaded.
    await expect.poll(async () => (await drawnBoxes()).filter(({ beyond }) => beyond > 1)).toEqual([])
    const boxes = await drawnBoxes()
    expect(boxes.length).toBeGreaterThan(30)
    for (const [index, box] of boxes.entries()) {
      const before = boxes[index - 1]
      if (before?.row === box.row) expect(box.from).toBeGreaterThanOrEqual(before.to - 0.1)
    }
  })

  await test.step('Parts of a character form one group, and each part is named by its bytes', async () => {
    await rowOf(page, 'split').click({ position: { x: 10, y: 10 } })
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight')
    await expect(selected(page)).toHaveAccessibleName(/^token \d+, bytes a5, id \d+, context/)
    await expect(rowOf(page, 'split').locator('.token-text')).toHaveCSS('background-image', /linear-gradient/)
    await page.keyboard.press('Escape')
    await expect(selected(page)).toBeHidden()
  })

  await test.step('Think blocks and segments fold and unfold by pointer, by key and all at once', async () => {
    const all = await rows(page).count()
    const folded = rows(page).filter({ hasText: '▸ think · 64 tok' })
    await page.getByTitle('Fold the think block').filter({ visible: true }).click()
    await expect(folded).toHaveAttribute('data-count', '64')
    await expect(rowOf(page, 'The answer')).toBeVisible()
    await expect(selected(page)).toBeHidden()
    await folded.click()
    await expect(folded).toHaveCount(0)
    await expect(rows(page)).toHaveCount(all)

    // The keys fold at the chosen token. A move to a token in a fold unfolds it.
    await rowOf(page, '<think>').click({ position: { x: 10, y: 10 } })
    await expect(selected(page)).toBeVisible()
    await page.keyboard.press('z')
    await expect(folded).toHaveCount(1)
    await page.keyboard.press('j')
    await expect(folded).toHaveCount(0)
    await page.keyboard.press('Z')
    await expect(rows(page)).toHaveCount(2)
    await expect(rows(page).last()).toHaveText(/▸ response · 70 tok/)
    await page.keyboard.press('Z')
    await expect(rows(page)).toHaveCount(all)
    await page.getByTitle('Fold the segment').filter({ visible: true }).first().click()
    await expect(rowOf(page, '▸ prompt · ')).toHaveAttribute('data-first', '0')
    await page.getByTitle('Unfold the segment').filter({ visible: true }).click()
    await expect(rows(page)).toHaveCount(all)
  })

  await test.step('Hits and the selection are marked in the rows, and everything fits', async () => {
    await page.getByRole('textbox', { name: /Find/ }).or(page.getByRole('searchbox')).first().fill('thought 5')
    const marks = (text: string) => rowOf(page, text).locator('.token-marks')
    await expect(marks('thought 50')).toHaveCSS('background-image', /linear-gradient/)
    await expect(marks('日本語')).toHaveCSS('background-image', 'none')
    await grid(page).focus()
    await page.keyboard.press('Home')
    for (let step = 0; step < 9; step++) await page.keyboard.press('Shift+ArrowRight')
    await expect(marks('日本語')).toHaveCSS('background-image', /linear-gradient/)
    await page.getByTitle('Fold the think block').filter({ visible: true }).click()
    await expect(rowOf(page, '▸ think · 64 tok')).toBeVisible()
    await expectFitEverywhere(page)
  })
  // The tokenizer that the file names is not on this machine, so its drift is unknown.
  expect(wrongs.filter((wrong) => !wrong.includes('422'))).toEqual([])
})

/** Returns a trajectory of wrapping words and then more lines than a browser can lay out; the scrollbar covers all of them. */
function tallTrajectory(words: number, lines: number): string {
  const lengths = [1, 4, 9, 2, 14, 6]
  const trajectory: Trajectory = {
    format: FORMAT,
    id: 'tall',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: { name: 'none', tools: [] },
    vocab: {
      '1': 'line\n',
      ...Object.fromEntries(lengths.map((length, index) => [index + 2, ` ${'w'.repeat(length)}`])),
    },
    segments: [
      {
        kind: 'prompt',
        ids: Array.from({ length: words + lines }, (_, n) => (n < words ? (n % lengths.length) + 2 : 1)),
        messages: [],
      },
    ],
    outcome: { kind: 'ended', reason: 'unknown' },
    provenance: { kind: 'recorded' },
  }
  return JSON.stringify(trajectory)
}

test('Token view keeps its position when the window or the font size changes, and scrolls 700,000 lines to the end by pixels', async ({
  page,
  request,
}) => {
  const words = 20_000
  const lines = 700_000
  await show(page, request, tallTrajectory(words, lines))
  const top = () =>
    grid(page).evaluate((view) => {
      const place = view.getBoundingClientRect().top
      const all = [...view.querySelectorAll<HTMLElement>('.token-row:not([hidden])')]
      const seen = all.filter((row) => row.getBoundingClientRect().bottom > place + 1)
      return Math.min(...seen.map(({ dataset }) => Number(dataset.first)))
    })
  const holds = async (token: number) =>
    expect
      .poll(async () => {
        const first = await top()
        const count = Number(
          await page.locator(`.token-row[data-first="${first}"]:not([hidden])`).getAttribute('data-count'),
        )
        return first <= token && token < first + count
      })
      .toBe(true)
  const height = () =>
    rows(page)
      .first()
      .evaluate((row) => row.clientHeight)

  await test.step('The position is kept, and the font size and the marks for spaces are preferences of the reader', async () => {
    await grid(page).evaluate((view) => view.scrollTo(0, 10_000))
    await expect.poll(top).toBeGreaterThan(0)
    const token = await top()
    await page.setViewportSize({ width: 1000, height: 900 })
    await holds(token)
    await page.setViewportSize(SCREENS[0].viewport)
    await expect.poll(top).toBe(token)
    expect(await height()).toBe(24)
    await page.getByRole('button', { name: 'View options' }).click()
    await page.getByRole('button', { name: 'Larger' }).click()
    await expect.poll(height).toBe(26)
    await holds(token)
    await page.getByRole('checkbox', { name: 'Marks for spaces and line ends' }).uncheck()
    await expect.poll(async () => (await drawn(page)).every(({ marks }) => marks === '')).toBe(true)
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(5000)
    await page.keyboard.press('Escape')
  })

  await test.step('The last line is reached, and the wheel moves by single pixels there', async () => {
    await grid(page).focus()
    await page.keyboard.press('End')
    const last = page.locator(`.token-row[data-first="${words + lines - 1}"]:not([hidden])`)
    await expect(last).toBeInViewport()
    const box = await last.boundingBox()
    await page.mouse.move(700, 500)
    await page.mouse.wheel(0, -30)
    await expect.poll(async () => Math.round(((await last.boundingBox())?.y ?? 0) - (box?.y ?? 0))).toBe(30)
    await page.keyboard.press('Home')
    await expect(page.locator('.token-row[data-first="0"]:not([hidden])')).toBeInViewport()
  })
})
